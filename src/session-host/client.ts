/** A client's side of a session's socket. Nothing here waits without a bound: a socket may accept and stay mute. */
import { errnoOf, messageOf } from "../errors.ts";
import {
  type ClientMessage,
  encodeClientMessage,
  FrameDecoder,
  type HostMessage,
  parseHostMessage,
} from "../protocol.ts";

export const DEFAULT_TIMEOUT_MS = 5_000;
const DATA_FRAME_BYTES = 64 * 1024;

/** "refused": nobody listens (or nothing is there); "timeout": it did not answer; "failed": anything else. */
export type SessionFailure = {
  readonly ok: false;
  readonly reason: "refused" | "timeout" | "closed" | "failed";
  readonly message: string;
};

export interface SessionStatusReply {
  readonly name: string;
  readonly terminal: { readonly cols: number; readonly rows: number };
  readonly process: {
    readonly alive: boolean;
    readonly exitCode: number | null;
    readonly pid: number | null;
  };
  readonly daemon: { readonly pid: number };
  readonly clients: { readonly total: number; readonly attached: number; readonly readOnly: number };
  readonly createdAt: string | null;
  readonly [member: string]: unknown;
}

/** How a session's connection ended: with the program's exit code, or null when the host said nothing (it died). */
export interface SessionEnd {
  readonly exitCode: number | null;
}

export interface ConnectOptions {
  readonly timeoutMs?: number;
}

/** Connects to the session host that listens at `socketPath`. */
export async function connectSession(
  socketPath: string,
  options: ConnectOptions = {},
): Promise<{ readonly ok: true; readonly session: SessionClient } | SessionFailure> {
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const session = new SessionClient(timeoutMs);
  const connecting = session.open(socketPath).then(
    () => "open" as const,
    (error: unknown) => error,
  );
  const outcome = await withTimeout(connecting, timeoutMs);
  if (outcome === "open") return { ok: true, session };
  session.close();
  if (outcome === "timeout") return failure("timeout", `no answer from ${socketPath} within ${timeoutMs} ms`);
  const code = errnoOf(outcome);
  const refused = code === "ECONNREFUSED" || code === "ENOENT" || code === "ENOTSOCK";
  return failure(
    refused ? "refused" : "failed",
    `cannot connect to ${socketPath}: ${code ?? messageOf(outcome)}`,
  );
}

export class SessionClient {
  private socket: Bun.Socket<undefined> | null = null;
  private readonly decoder = new FrameDecoder();
  private readonly listeners = new Set<(message: HostMessage) => void>();
  private unsent: Uint8Array[] = [];
  private readonly timeoutMs: number;
  private exitCode: number | null = null;
  private isOpen = false;
  private abandoned = false;
  private readonly waitingForRoom: (() => void)[] = [];
  private finish: (end: SessionEnd) => void = () => {};
  /** Resolves when the program has ended or the connection is gone; at once when the host dies. */
  readonly ended: Promise<SessionEnd>;

  /** Use `connectSession`. */
  constructor(timeoutMs: number) {
    this.timeoutMs = timeoutMs;
    this.ended = new Promise((resolve) => {
      this.finish = resolve;
    });
  }

  /** Use `connectSession`. */
  async open(socketPath: string): Promise<void> {
    const lost = () => this.lose();
    this.socket = await Bun.connect({
      unix: socketPath,
      socket: {
        data: (_socket, bytes) => this.receive(bytes),
        drain: () => this.flush(),
        close: lost,
        end: lost,
        error: lost,
      },
    });
    if (this.abandoned) this.socket.end();
    else this.isOpen = true;
  }

  /** Whether the connection stands. */
  get isConnected(): boolean {
    return this.isOpen;
  }

  /** Calls `listener` for every message of the host; gives back what takes it off again. */
  onMessage(listener: (message: HostMessage) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Says one thing. Resolves when the kernel has taken it; false when the connection is gone. */
  async send(message: ClientMessage): Promise<boolean> {
    if (!this.isOpen) return false;
    this.unsent.push(encodeClientMessage(message));
    this.flush();
    while (this.isOpen && this.unsent.length > 0) {
      await new Promise<void>((resolve) => this.waitingForRoom.push(resolve));
    }
    return this.isOpen;
  }

  /**
   * Types into the session, in frames that end on character boundaries. Resolves when the kernel has taken
   * everything, which a program that does not read can hold up for ever; false when the connection is gone.
   */
  async sendData(bytes: Uint8Array): Promise<boolean> {
    for (let offset = 0; offset < bytes.length; ) {
      let end = Math.min(offset + DATA_FRAME_BYTES, bytes.length);
      while (end < bytes.length && end > offset + 1 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
      if (!(await this.send({ kind: "data", bytes: bytes.subarray(offset, end) }))) return false;
      offset = end;
    }
    return this.isOpen;
  }

  /** Asks how the session is. What its terminal shows may be unknown: nothing is loaded for that. */
  async status(): Promise<{ readonly ok: true; readonly status: SessionStatusReply } | SessionFailure> {
    const answer = await this.ask({ kind: "status", brief: true }, "status");
    if (!answer.ok) return answer;
    try {
      return { ok: true, status: JSON.parse(answer.message.text) as SessionStatusReply };
    } catch (error) {
      return failure("failed", `the session host's answer is not JSON: ${messageOf(error)}`);
    }
  }

  /** Its screen, without disturbing it. Afterwards DATA follows to `onMessage` as the program prints. */
  async peek(options: {
    readonly plain?: boolean;
    readonly full?: boolean;
  }): Promise<{ readonly ok: true; readonly screen: Uint8Array } | SessionFailure> {
    const plain = options.plain ?? false;
    const answer = await this.ask({ kind: "peek", plain, full: options.full ?? false }, "screen");
    return answer.ok ? { ok: true, screen: answer.message.bytes } : answer;
  }

  /**
   * Says that a supervisor watches: the host keeps no timer while this connection stands. The promise resolves when
   * the program has ended or the host is gone.
   */
  watch(): Promise<SessionEnd> {
    void this.send({ kind: "watch" });
    return this.ended;
  }

  /** Whether an open connection keeps this process alive. */
  setRef(ref: boolean): void {
    if (ref) this.socket?.ref();
    else this.socket?.unref();
  }

  /** Stops or continues reading what the host says. */
  setReading(reading: boolean): void {
    if (reading) this.socket?.resume();
    else this.socket?.pause();
  }

  close(): void {
    this.abandoned = true;
    this.socket?.end();
    this.lose();
  }

  private async ask<K extends HostMessage["kind"]>(
    question: ClientMessage,
    kind: K,
  ): Promise<{ readonly ok: true; readonly message: Extract<HostMessage, { kind: K }> } | SessionFailure> {
    let off = () => {};
    const answered = new Promise<Extract<HostMessage, { kind: K }>>((resolve) => {
      off = this.onMessage((message) => {
        if (message.kind === kind) resolve(message as Extract<HostMessage, { kind: K }>);
      });
    });
    void this.send(question);
    const gone = this.ended.then(() => "gone" as const);
    const outcome = await withTimeout(Promise.race([answered, gone]), this.timeoutMs);
    off();
    if (outcome === "gone") return failure("closed", "the session host closed the connection");
    if (outcome === "timeout")
      return failure("timeout", `the session host did not answer within ${this.timeoutMs} ms`);
    return { ok: true, message: outcome };
  }

  private receive(bytes: Uint8Array): void {
    const frames = this.decoder.push(bytes);
    if (frames === "too long") {
      this.close();
      return;
    }
    for (const frame of frames) {
      const message = parseHostMessage(frame);
      if (message === null) continue;
      if (message.kind === "exit") this.exitCode = message.exitCode;
      for (const listener of [...this.listeners]) listener(message);
      if (message.kind === "exit") this.finish({ exitCode: this.exitCode });
    }
  }

  private flush(): void {
    while (this.isOpen && this.unsent.length > 0) {
      const head = this.unsent[0]!;
      const taken = this.socket!.write(head);
      if (taken < 0) {
        this.lose();
        return;
      }
      if (taken < head.length) {
        this.unsent[0] = head.subarray(taken);
        return;
      }
      this.unsent.shift();
    }
    this.release();
  }

  private lose(): void {
    this.isOpen = false;
    this.unsent = [];
    this.release();
    this.finish({ exitCode: this.exitCode });
  }

  private release(): void {
    for (const resolve of this.waitingForRoom.splice(0)) resolve();
  }
}

function failure(reason: SessionFailure["reason"], message: string): SessionFailure {
  return { ok: false, reason, message };
}

async function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T | "timeout"> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<"timeout">((resolve) => {
    timer = setTimeout(() => resolve("timeout"), timeoutMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
