/**
 * Standard input by explicit pulls. With a listener on a busy one (`< /dev/zero`) the runtime never gets to its signal
 * handlers; a read that is asked for only when the last one has been dealt with leaves room for them.
 */
import { read } from "node:fs";
import { errnoOf } from "../errors.ts";

const PULL_BYTES = 64 * 1024;
const RETRY_MS = 10;

/**
 * The next bytes of the descriptor; null at its end, and when its terminal is gone. The bytes stand until the next pull.
 * A pull that is under way does not keep a process from exiting.
 */
export type Pull = () => Promise<Uint8Array | null>;

export function pullFrom(descriptor: number): Pull {
  const buffer = new Uint8Array(PULL_BYTES);
  return async () => {
    while (true) {
      const count = await readOnce(descriptor, buffer);
      if (count !== "nothing yet") return count === 0 ? null : buffer.subarray(0, count);
      await Bun.sleep(RETRY_MS);
    }
  };
}

/** The count of bytes; 0 at the end. A descriptor that somebody made non-blocking may have nothing yet. */
function readOnce(descriptor: number, buffer: Uint8Array): Promise<number | "nothing yet"> {
  return new Promise((resolve, reject) => {
    read(descriptor, buffer, 0, buffer.length, null, (error, count) => {
      if (error === null) resolve(count);
      else if (errnoOf(error) === "EAGAIN") resolve("nothing yet");
      // Hung up, closed before we started.
      else if (errnoOf(error) === "EIO" || errnoOf(error) === "EBADF") resolve(0);
      else reject(error);
    });
  });
}
