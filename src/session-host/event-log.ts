/** Events of a session's own log. What a program can raise many times a second is written at most once a second. */
import type { TerminalEvent } from "../terminal-events.ts";

const SPACING_MS = 1_000;

export class EventLog {
  private readonly lastAt = new Map<string, number>();
  private readonly waiting = new Map<string, TerminalEvent>();
  private readonly append: (event: { type: string; [member: string]: unknown }) => void;
  private readonly session: string;

  /** `append` writes one line; it reports its own failures. */
  constructor(session: string, append: (event: { type: string; [member: string]: unknown }) => void) {
    this.session = session;
    this.append = append;
  }

  /** Writes an event of the session itself, at once. */
  write(type: string, members: Readonly<Record<string, unknown>> = {}): void {
    this.append({ session: this.session, type, ts: new Date().toISOString(), ...members });
  }

  /** Writes an event that the program raised; of each type the newest, a second apart. */
  raise(event: TerminalEvent): void {
    const { type, ...members } = event;
    const wait = (this.lastAt.get(type) ?? -Infinity) + SPACING_MS - performance.now();
    if (wait <= 0) {
      this.lastAt.set(type, performance.now());
      this.write(type, members);
      return;
    }
    if (!this.waiting.has(type)) setTimeout(() => this.release(type), wait).unref();
    this.waiting.set(type, event);
  }

  /** Writes what still waits, before the host leaves. */
  flush(): void {
    for (const type of [...this.waiting.keys()]) this.release(type);
  }

  private release(type: string): void {
    const event = this.waiting.get(type);
    if (event === undefined) return;
    this.waiting.delete(type);
    this.lastAt.set(type, performance.now());
    const { type: _, ...members } = event;
    this.write(type, members);
  }
}
