/** Names for temporary files. The web's own generator: loading node:crypto takes milliseconds and megabytes. */

/** Eight random hexadecimal digits. */
export function randomName(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString("hex");
}
