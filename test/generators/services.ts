/** Random services: paths and values of every character that one can have. */
import fc from "fast-check";
import { type Service, serviceFault, serviceWords } from "../../src/service.ts";

const TEXT = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.constantFrom(..."\\\"'$%{}; &<>=#@a:") }),
  fc.constantFrom("%h", "$$", `\${HOME}`, "$HOME", "\\", ";", "\\x20", "%%", "]]>", "&amp;", " a ", "--"),
);

export const SERVICES: fc.Arbitrary<Service> = fc
  .record({
    network: TEXT.map((text) => `/${text}`),
    binary: TEXT.map((text) => `/${text}`),
    environmentFile: TEXT.map((text) => `/${text}`),
    onEvent: fc.option(TEXT),
    path: TEXT,
    language: fc.option(TEXT),
  })
  .map(({ network, binary, environmentFile, onEvent, path, language }) => ({
    network,
    binary,
    environmentFile,
    words: serviceWords(network, { intervalSeconds: null, fastFailWindow: null, fastFailLimit: 3, onEvent }),
    environment: { PATH: path, ...(language === null ? {} : { LANG: language }) },
  }))
  .filter((service) => serviceFault(service) === null);
