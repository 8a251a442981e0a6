/** One terminal on one session: keys and size go to it, what it prints comes back, until one of the two has enough. */
import process from "node:process";
import { DetachScanner, DOUBLE_MS, type Typed } from "../detach-scanner.ts";
import type { HostMessage, Size } from "../protocol.ts";
import { DEFAULT_TIMEOUT_MS, type SessionClient } from "../session-host/client.ts";
import type { LentTerminal } from "./lent-terminal.ts";
import type { Pull } from "./pulled-input.ts";

/** `ended`: the program, or its host; `silent`: the host accepted and said nothing. */
export type AttachOutcome = "detached" | "ended" | "silent";

/** Output that waits for this terminal; beyond it the host is not read, and sends a fresh screen afterwards. */
const OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024;
/** Input that waits for the session; beyond it no more is read, and the detach key is not seen. */
const INPUT_LIMIT_BYTES = 8 * 1024 * 1024;
/** What was typed before the detach key still goes out, if the session takes it by then. */
const LAST_INPUT_MS = 500;

export class Attachment {
  private readonly client: SessionClient;
  private readonly terminal: LentTerminal;
  private readonly stop: AbortSignal;
  private readonly scanner = new DetachScanner();
  private readonly detach: () => void;
  private readonly detached: Promise<"detached">;
  private timer: { readonly id: NodeJS.Timeout; readonly forKey: boolean } | null = null;
  private sending: Promise<unknown> = Promise.resolve();
  private unsent = 0;
  private size: Size = { rows: 0, cols: 0 };
  private reading = true;
  private begun: (() => void) | null = null;

  /** `stop` detaches. */
  constructor(client: SessionClient, terminal: LentTerminal, stop: AbortSignal) {
    this.client = client;
    this.terminal = terminal;
    this.stop = stop;
    const { promise, resolve } = Promise.withResolvers<"detached">();
    this.detached = promise;
    this.detach = () => resolve("detached");
    if (stop.aborted) this.detach();
    else stop.addEventListener("abort", this.detach, { once: true });
    void terminal.output.closed.then(this.detach);
  }

  /**
   * Attaches, and resolves when it is over, with the terminal given back and the connection closed. `sizeWithout` is
   * said where there is no terminal.
   */
  async run(pull: Pull, sizeWithout: Size): Promise<AttachOutcome> {
    try {
      const begun = await this.begin(sizeWithout);
      if (begun !== "begun") return begun;
      void this.typeFrom(pull).catch((error: unknown) => this.fail(error));
      const outcome = await Promise.race([this.failure, this.detached, this.showAll()]);
      if (outcome === "detached") await this.leave();
      return outcome;
    } finally {
      this.clearTimer();
      process.off("SIGWINCH", this.resize);
      this.client.close();
      await this.terminal.giveBack();
    }
  }

  private fail: (error: unknown) => void = () => {};
  private readonly failure = new Promise<never>((_, reject) => {
    this.fail = reject;
  });

  /** Until its screen is there this terminal stays as it is, and Ctrl-C is Ctrl-C. */
  private async begin(sizeWithout: Size): Promise<"begun" | AttachOutcome> {
    const screen = new Promise<"begun">((resolve) => {
      this.begun = () => resolve("begun");
    });
    this.client.onMessage((message) => this.take(message));
    this.terminal.output.onProgress = () => this.keepPace();
    process.on("SIGWINCH", this.resize);
    const own = this.terminal.size();
    this.size = own.rows === 0 || own.cols === 0 ? sizeWithout : own;
    void this.client.send({ kind: "attach", size: this.size });
    const silent = Bun.sleep(DEFAULT_TIMEOUT_MS).then(() => "silent" as const);
    return await Promise.race([screen, this.detached, this.over(), silent]);
  }

  private take(message: HostMessage): void {
    if (message.kind !== "screen" && message.kind !== "data") return;
    if (this.begun !== null) {
      if (message.kind !== "screen") return;
      this.terminal.take();
      this.begun();
      this.begun = null;
    }
    this.terminal.output.push(message.bytes);
    this.keepPace();
  }

  private keepPace(): void {
    const { waiting } = this.terminal.output;
    const reading = this.reading ? waiting <= OUTPUT_LIMIT_BYTES : waiting < OUTPUT_LIMIT_BYTES / 2;
    if (reading !== this.reading) this.client.setReading(reading);
    this.reading = reading;
  }

  private async over(): Promise<"ended"> {
    await this.client.ended;
    return "ended";
  }

  /** Until it has ended and all that it printed is on this terminal. */
  private async showAll(): Promise<"ended"> {
    const outcome = await this.over();
    await this.terminal.output.drained();
    return outcome;
  }

  private readonly resize = (): void => {
    const { rows, cols } = this.terminal.size();
    if (rows === 0 || cols === 0 || (rows === this.size.rows && cols === this.size.cols)) return;
    this.size = { rows, cols };
    void this.client.send({ kind: "resize", size: this.size });
  };

  private async typeFrom(pull: Pull): Promise<void> {
    while (this.client.isConnected) {
      const bytes = await pull();
      if (bytes === null) break;
      this.type(this.scanner.push(bytes.slice()));
      while (this.unsent > INPUT_LIMIT_BYTES) await this.sending;
    }
    this.type(this.scanner.expire());
    // A terminal that is gone detaches; a pipe that has ended only types no more.
    if (this.terminal.hasKeyboard) this.detach();
  }

  private type(typed: Typed): void {
    if (typed.bytes.length > 0) {
      this.unsent += typed.bytes.length;
      this.sending = this.sending.then(async () => {
        await this.client.sendData(typed.bytes);
        this.unsent -= typed.bytes.length;
      });
    }
    if (typed.detach) this.detach();
    this.waitForRest(typed.waitMs);
  }

  /** The time for a second press of the detach key runs from the first, whatever comes meanwhile. */
  private waitForRest(waitMs: number | null): void {
    const forKey = waitMs === DOUBLE_MS;
    if (forKey && this.timer?.forKey === true) return;
    this.clearTimer();
    if (waitMs === null) return;
    const expire = () => {
      this.timer = null;
      this.type(this.scanner.expire());
    };
    this.timer = { id: setTimeout(expire, waitMs), forKey };
  }

  private clearTimer(): void {
    if (this.timer !== null) clearTimeout(this.timer.id);
    this.timer = null;
  }

  private async leave(): Promise<void> {
    const last = this.sending.then(() => this.client.send({ kind: "detach" }));
    if (!this.stop.aborted) await Promise.race([last, Bun.sleep(LAST_INPUT_MS)]);
  }
}
