/** Asks a session's socket who is there: one STATUS request of the socket protocol, bounded in time. */
import { errnoOf } from "../errors.ts";
import { isJsonObject, parseJsonObject } from "../json-members.ts";
import type { SocketAnswer } from "../session-facts.ts";

const STATUS = 7;
const HEADER_BYTES = 5;
/** Screens of a pty host that speaks unasked are read past; a longer frame is no host of ours. */
const MAX_FRAME_BYTES = 32 * 1024 * 1024;
export const PROBE_TIMEOUT_MS = 1_000;

/**
 * Connects to `path` and asks for the status of session `name`.
 * "answered" only for a status that names this session; "absent" when nothing listens there; everything else, a late
 * answer included, is "silent". Never throws.
 */
export function probeSocket(path: string, name: string, timeoutMs = PROBE_TIMEOUT_MS): Promise<SocketAnswer> {
  return new Promise((resolve) => {
    let received: Buffer = Buffer.alloc(0);
    let connection: { terminate(): void } | null = null;
    let answered = false;
    const finish = (answer: SocketAnswer) => {
      answered = true;
      clearTimeout(timer);
      resolve(answer);
      connection?.terminate();
    };
    const timer = setTimeout(() => finish({ state: "silent" }), timeoutMs);
    const connected = Bun.connect({
      unix: path,
      socket: {
        open(socket) {
          connection = socket;
          if (answered) socket.terminate();
          else socket.write(new Uint8Array([STATUS, 0, 0, 0, 0]));
        },
        data(_, bytes) {
          received = Buffer.concat([received, bytes]);
          const scanned = takeStatus(received);
          received = scanned.rest;
          if (scanned.status !== null) finish(classifyStatus(scanned.status, name));
          else if (scanned.foreign) finish({ state: "silent" });
        },
        close: () => finish({ state: "silent" }),
      },
    });
    connected.catch((error: unknown) => finish({ state: isAbsence(error) ? "absent" : "silent" }));
  });
}

/** No such file, nobody listening, or not a socket. */
function isAbsence(error: unknown): boolean {
  return ["ENOENT", "ECONNREFUSED", "ENOTSOCK"].includes(errnoOf(error) ?? "");
}

/** Skips whole frames up to a STATUS one. `foreign` when the bytes cannot be this protocol. */
function takeStatus(bytes: Buffer): {
  readonly status: string | null;
  readonly rest: Buffer;
  readonly foreign: boolean;
} {
  let rest = bytes;
  while (rest.length >= HEADER_BYTES) {
    const length = rest.readUInt32BE(1);
    if (length > MAX_FRAME_BYTES) return { status: null, rest, foreign: true };
    if (rest.length < HEADER_BYTES + length) break;
    const payload = rest.subarray(HEADER_BYTES, HEADER_BYTES + length);
    if (rest[0] === STATUS) return { status: payload.toString("utf8"), rest, foreign: false };
    rest = rest.subarray(HEADER_BYTES + length);
  }
  return { status: null, rest, foreign: false };
}

function classifyStatus(text: string, name: string): SocketAnswer {
  const parsed = parseJsonObject(text);
  if ("problem" in parsed || parsed.object.name !== name) return { state: "silent" };
  return {
    state: "answered",
    hostPid: pidIn(parsed.object.daemon),
    childPid: pidIn(parsed.object.process),
    convoy: isJsonObject(parsed.object.convoy),
  };
}

function pidIn(value: unknown): number | null {
  const pid = (value as { pid?: unknown } | null | undefined)?.pid;
  return Number.isInteger(pid) && (pid as number) > 0 ? (pid as number) : null;
}
