/** Files whose place somebody else's pipe, device or huge file may have taken: read and appended to without waiting. */
import { appendFileSync, closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";

/** Far above anything that convoy keeps in one file. */
const MAX_BYTES = 64 * 1024 * 1024;

/** What stands at a path and is no file that can be read as one. */
export class NotRegularError extends Error {
  override readonly name = "NotRegularError";
}

/** Text and state of one open file. Throws a system error, or a `NotRegularError` ("is …") for what is no plain file. */
export function readRegularFile(path: string): { readonly text: string; readonly stat: Stats } {
  return withOpen(path, constants.O_RDONLY, (descriptor, stat) => {
    if (stat.size > MAX_BYTES) throw new NotRegularError(`is over 64 MiB (${stat.size} bytes)`);
    return { text: readFileSync(descriptor, "utf8"), stat };
  });
}

/** Appends to a file, made with mode 0600 when it is not there. Throws as `readRegularFile` does. */
export function appendRegularFile(path: string, text: string): void {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
  withOpen(path, flags, (descriptor) => appendFileSync(descriptor, text));
}

/** A pipe that nobody has open at its other end must not hold up whoever opens it. */
function withOpen<T>(path: string, flags: number, use: (descriptor: number, stat: Stats) => T): T {
  const descriptor = openSync(path, flags | constants.O_NONBLOCK, 0o600);
  try {
    const stat = fstatSync(descriptor);
    if (stat.isDirectory()) throw new NotRegularError("is a directory");
    if (!stat.isFile()) throw new NotRegularError("is not a regular file");
    return use(descriptor, stat);
  } finally {
    closeSync(descriptor);
  }
}
