import { afterEach, beforeEach, expect, test } from "bun:test";
import { CatalogFixture } from "./catalog-fixture.ts";
import { readIdentityLine } from "./locate.ts";

let fixture: CatalogFixture;
beforeEach(() => {
  fixture = new CatalogFixture();
});
afterEach(() => fixture.remove());

test("the line of the identity, in each format; null where there is no telling", async () => {
  const files = [
    fixture.put("a.toml", '# the first\nrole = "worker"\nidentity = "a"\n'),
    fixture.put("a.kdl", 'role "worker"\n\n\nidentity "a"\n'),
    fixture.put("a.json", '{"role": "worker",\n "identity": "a"}\n'),
    fixture.put("broken.toml", "identity = \n"),
    fixture.put("bytes.toml", new Uint8Array([0xff])),
    fixture.put("a.txt", "identity"),
    `${fixture.catalogDir}/gone.toml`,
  ];
  const lines = await Promise.all(files.map(readIdentityLine));
  expect(lines).toEqual([3, 4, 2, null, null, null, null]);
});
