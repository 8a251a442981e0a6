import { afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cleanUp, freshNetwork } from "../../test/fakes/network.ts";
import { readHostName, rememberHostName } from "./host-name.ts";

afterEach(cleanUp);

describe("this machine's name", () => {
  test("is the system's until `up` remembers it, then stays, and a difference is said", () => {
    const paths = freshNetwork();
    expect(readHostName(paths, { system: "box" })).toEqual({ host: "box", source: "system", notice: null });
    expect(existsSync(paths.state)).toBe(false);
    expect(rememberHostName(paths, { system: "box" })).toEqual({
      host: "box",
      source: "system",
      notice: null,
    });
    expect(readFileSync(paths.name, "utf8")).toBe("box\n");
    const later = {
      host: "box",
      source: "remembered",
      notice: `this machine now calls itself 3f2a9c01d4e5; it stays box here, as ${paths.name} remembers`,
    } as const;
    expect(readHostName(paths, { system: "3f2a9c01d4e5" })).toEqual(later);
    expect(rememberHostName(paths, { system: "3f2a9c01d4e5" })).toEqual(later);
    expect(readFileSync(paths.name, "utf8")).toBe("box\n");
  });

  test("is overridden by CONVOY_HOST, read as any host is; the first one is remembered", () => {
    const paths = freshNetwork();
    expect(rememberHostName(paths, { system: "box", override: "Pinned.example.com" }).host).toBe("pinned");
    expect(readHostName(paths, { system: "box", override: "" }).host).toBe("pinned");
    expect(readHostName(paths, { system: "box", override: "other" })).toEqual({
      host: "other",
      source: "override",
      notice: "CONVOY_HOST makes this machine other; the name remembered here is pinned",
    });
    expect(rememberHostName(paths, { system: "box", override: "other" }).host).toBe("other");
    expect(readFileSync(paths.name, "utf8")).toBe("pinned\n");
    expect(() => readHostName(paths, { system: "box", override: "no name" })).toThrow(
      'CONVOY_HOST="no name" is not a host name',
    );
  });

  test("falls back to the system's when the file is torn, says so, and mends it", () => {
    const paths = freshNetwork();
    mkdirSync(paths.state, { recursive: true });
    writeFileSync(paths.name, "");
    expect(readHostName(paths, { system: "box" })).toEqual({
      host: "box",
      source: "system",
      notice: `${paths.name} holds no host name; the system's name is used`,
    });
    rememberHostName(paths, { system: "box" });
    expect(readFileSync(paths.name, "utf8")).toBe("box\n");
  });
});
