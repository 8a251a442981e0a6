/**
 * A terminal's settings, by the C library: the runtime's own raw mode leaves output translated (`ONLCR`), and a program
 * that moves the cursor down with a bare line feed is then shown wrong.
 */
import { dlopen, ptr } from "bun:ffi";
import process from "node:process";
import { ConvoyError, messageOf } from "../errors.ts";

/** More than `struct termios` has anywhere; only the C library looks inside. */
const SETTINGS_BYTES = 256;
/** Without waiting for output that nobody may ever read. */
const TCSANOW = 0;

/** Makes the terminal at `descriptor` raw; gives back what puts its settings back exactly as they were. */
export function makeRaw(descriptor: number): () => void {
  const { tcgetattr, tcsetattr, cfmakeraw } = openLibrary();
  const before = new Uint8Array(SETTINGS_BYTES);
  if (tcgetattr(descriptor, ptr(before)) !== 0) throw refused("read");
  const raw = before.slice();
  cfmakeraw(ptr(raw));
  if (tcsetattr(descriptor, TCSANOW, ptr(raw)) !== 0) throw refused("changed");
  // One that has been hung up meanwhile has no settings any more.
  return () => void tcsetattr(descriptor, TCSANOW, ptr(before));
}

function refused(what: string): ConvoyError {
  return new ConvoyError("failed", `the settings of this terminal cannot be ${what}`);
}

function openLibrary() {
  const problems: string[] = [];
  for (const name of libraryNames()) {
    try {
      return dlopen(name, {
        tcgetattr: { args: ["i32", "ptr"], returns: "i32" },
        tcsetattr: { args: ["i32", "i32", "ptr"], returns: "i32" },
        cfmakeraw: { args: ["ptr"], returns: "void" },
      }).symbols;
    } catch (error) {
      problems.push(messageOf(error));
    }
  }
  throw new ConvoyError("failed", `cannot use the C library: ${problems.join("; ")}`);
}

function libraryNames(): string[] {
  if (process.platform === "darwin") return ["libSystem.B.dylib"];
  return ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`];
}
