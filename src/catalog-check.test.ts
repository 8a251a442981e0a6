import { expect, test } from "bun:test";
import { good, inForce } from "../test/fakes/catalogs.ts";
import { checkCatalog } from "./catalog-check.ts";

test("a supervisor that no file declares is named; one on another host is known", () => {
  const files = [
    good("a.toml", "a", { supervisor: "ghost" }),
    good("b.toml", "b", { supervisor: "c" }),
    good("c.toml", "c", { host: "shed" }),
  ];
  expect(checkCatalog(inForce({ files }), "box")).toEqual([
    {
      severity: "warning",
      path: "a.toml",
      line: null,
      message: 'its supervisor "ghost" is declared nowhere in this catalog',
    },
  ]);
});

test("circles of supervisors are found on every host, beside what else is wrong", () => {
  const files = [
    good("a.toml", "a", { supervisor: "b" }),
    good("b.toml", "b", { supervisor: "a" }),
    good("c.toml", "c", { host: "shed", supervisor: "d" }),
    good("d.toml", "d", { host: "shed", supervisor: "c" }),
    good("e.toml", "e", { supervisor: "f" }),
    good("f.toml", "f", { host: "shed", supervisor: "e" }),
    good("g.toml", "a"),
  ];
  const found = checkCatalog(inForce({ files: files.slice(0, 6) }), "box");
  const circle = (members: string) =>
    `supervisors go in a circle (${members}): started in the order of their names`;
  expect(found).toEqual([
    { severity: "warning", path: "a.toml", line: null, message: circle("a -> b -> a") },
    { severity: "warning", path: "c.toml", line: null, message: circle("c -> d -> c") },
  ]);
  const clashing = checkCatalog(inForce({ files }), "box");
  expect(clashing.map(({ severity, path }) => `${severity} ${path}`)).toEqual([
    "error a.toml",
    "warning a.toml",
    "warning c.toml",
    "error g.toml",
  ]);
});
