/**
 * Libraries that take milliseconds to load and that most runs never need: each is loaded at the first call. The calls
 * are synchronous, so that what uses them can be too.
 */

/**
 * JSON as it is written: syntax trees, positions, edits. Named by file: what `require` finds by the package's name
 * loads its own parts in a way that a bundler does not see, and the compiled program is then without them.
 */
export function jsoncParser(): typeof import("jsonc-parser") {
  return require("jsonc-parser/lib/esm/main.js");
}

/** TOML as it is written: syntax trees with ranges. */
export function tomlSyntax(): typeof import("toml-eslint-parser") {
  return require("toml-eslint-parser");
}
