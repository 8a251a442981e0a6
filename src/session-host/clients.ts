/** Everybody who is connected to a session: who follows its output, whose size counts, whose input waits. */
import { type ClientMessage, encodeHostMessage, parseClientMessage, type Size } from "../protocol.ts";
import type { Scan } from "../terminal-scan.ts";
import { Connection } from "./connection.ts";
import type { XtermScreen } from "./xterm-screen.ts";

/** Input that the program has not taken yet; beyond it no client's input is read. */
export const INPUT_LIMIT_BYTES = 4 * 1024 * 1024;
/** No terminal is larger: a client may ask for 65,535 by 65,535. */
const MAX_SIDE = 1_000;
const PROBE_MS = 1_000;

/** What the clients need of the session. */
export interface ClientsSession {
  /** The size in force. */
  size(): Size;
  /** Called only when it differs from the one in force. */
  resize(size: Size): void;
  input(bytes: Uint8Array): void;
  /** Bytes of input that the program has not taken. */
  outstanding(): number;
  /** Whether output so far ends where nothing is in the middle. */
  atBoundary(): boolean;
  look(action: (screen: XtermScreen) => void): void;
  /** A replay of the whole terminal for a client that is to take it over. */
  replay(screen: XtermScreen): string;
  /** Gives the answer to a STATUS question to `answer`, at once when it may be brief. */
  status(brief: boolean, answer: (text: string) => void): void;
  attached(): void;
  /** The first supervisor came, or the last one went. */
  watched(watched: boolean): void;
}

/** Puts a terminal that showed something else into the state that a replay starts from. */
const CLEAR =
  "\x1b[!p\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l\x1b[?1049l\x1b[0m\x1b[2J\x1b[3J\x1b[H";

export class Clients {
  private readonly all = new Set<Connection>();
  private readonly session: ClientsSession;
  private prober: NodeJS.Timeout | null = null;

  constructor(session: ClientsSession) {
    this.session = session;
  }

  /** Handlers of the listening socket. */
  readonly handlers: Bun.SocketHandler<Connection> = {
    open: (socket) => {
      socket.data = new Connection(socket, (connection) => this.refresh(connection));
      this.all.add(socket.data);
    },
    data: (socket, bytes) => this.receive(socket.data, bytes),
    drain: (socket) => socket.data.drained(),
    close: (socket) => this.remove(socket.data),
    error: (socket) => this.remove(socket.data),
  };

  get hasAttached(): boolean {
    return this.count("attached") > 0;
  }

  get isWatched(): boolean {
    return [...this.all].some(({ watching }) => watching);
  }

  /** Who looks, as pty counts: one who only asks or types is nobody's guest. */
  counts(): { total: number; attached: number; readOnly: number } {
    const [attached, readOnly] = [this.count("attached"), this.count("peek")];
    return { total: attached + readOnly, attached, readOnly };
  }

  get connections(): number {
    return this.all.size;
  }

  output(scan: Scan): void {
    if (scan.bytes.length === 0 || this.all.size === 0) return;
    const frame = encodeHostMessage({ kind: "data", bytes: scan.bytes });
    for (const connection of this.all) connection.output(scan.bytes, frame, scan.firstBoundary);
    for (const connection of this.all) connection.waitForRoom();
  }

  /** The program has taken all its input. */
  inputTaken(): void {
    if (this.prober === null) return;
    clearInterval(this.prober);
    this.prober = null;
    for (const connection of this.all) connection.pause(false);
  }

  /** Tells everybody that the program has ended, and resolves when all have heard it, `waitMs` at most. */
  async sayExit(exitCode: number, waitMs: number): Promise<void> {
    const lingering = this.hasAttached;
    for (const connection of this.all) connection.send({ kind: "exit", exitCode });
    const deadline = performance.now() + waitMs;
    const busy = () => [...this.all].some((connection) => lingering || !connection.isFlushed);
    while (busy() && performance.now() < deadline) await Bun.sleep(5);
    for (const connection of this.all) connection.end();
  }

  private count(role: Connection["role"]): number {
    let count = 0;
    for (const connection of this.all) if (connection.role === role) count += 1;
    return count;
  }

  private receive(connection: Connection, bytes: Uint8Array): void {
    for (const frame of connection.receive(bytes)) {
      const message = parseClientMessage(frame);
      if (message !== null && !connection.isClosed) this.handle(connection, message);
    }
    if (connection.isClosed) this.remove(connection);
  }

  private handle(connection: Connection, message: ClientMessage): void {
    switch (message.kind) {
      case "data":
        this.takeInput(connection, message.bytes);
        return;
      case "attach":
        connection.role = "attached";
        connection.size = usableSize(message.size);
        if (!this.negotiateSize()) connection.send({ kind: "geometry", size: this.session.size() });
        this.sendReplay(connection, "");
        this.session.attached();
        return;
      case "resize":
        if (connection.role !== "attached") return;
        connection.size = usableSize(message.size) ?? connection.size;
        this.negotiateSize();
        return;
      case "peek":
        connection.role = "peek";
        this.sendLook(connection, message.plain, message.full);
        return;
      case "status":
        this.session.status(message.brief, (text) => connection.send({ kind: "status", text }));
        return;
      case "watch":
        connection.watching = true;
        this.session.watched(true);
        return;
      case "detach":
        connection.end();
        return;
    }
  }

  private takeInput(connection: Connection, bytes: Uint8Array): void {
    if (connection.role === "peek") return;
    this.session.input(bytes);
    if (this.session.outstanding() < INPUT_LIMIT_BYTES) return;
    connection.pause(true);
    this.prober ??= setInterval(() => this.probePaused(), PROBE_MS).unref();
  }

  private probePaused(): void {
    for (const connection of [...this.all]) {
      if (connection.paused) connection.probe();
      if (connection.isClosed) this.remove(connection);
    }
  }

  private remove(connection: Connection): void {
    if (!this.all.delete(connection)) return;
    connection.markClosed();
    this.negotiateSize();
    if (connection.watching && !this.isWatched) this.session.watched(false);
  }

  /**
   * The smallest of the attached clients' sizes; with none of them the last size stays. True when it is another than
   * before: everybody has been told.
   */
  private negotiateSize(): boolean {
    const now = this.session.size();
    let rows = Number.POSITIVE_INFINITY;
    let cols = Number.POSITIVE_INFINITY;
    for (const { role, size } of this.all) {
      if (role !== "attached" || size === null) continue;
      rows = Math.min(rows, size.rows);
      cols = Math.min(cols, size.cols);
    }
    if (!Number.isFinite(rows) || (rows === now.rows && cols === now.cols)) return false;
    this.session.resize({ rows, cols });
    for (const connection of this.all) {
      if (connection.role !== "plain") connection.send({ kind: "geometry", size: { rows, cols } });
    }
    return true;
  }

  /** A client that could not keep up reads again. */
  private refresh(connection: Connection): void {
    if (connection.role === "attached") this.sendReplay(connection, CLEAR);
    else this.sendLook(connection, false, false, "\x1b[2J\x1b[H");
  }

  private sendReplay(connection: Connection, before: string): void {
    connection.awaitScreen(this.session.atBoundary());
    this.session.look((screen) => {
      connection.deliverScreen(Buffer.from(before + this.session.replay(screen)));
    });
  }

  private sendLook(connection: Connection, plain: boolean, full: boolean, before = ""): void {
    connection.awaitScreen(this.session.atBoundary());
    this.session.look((screen) => {
      connection.deliverScreen(Buffer.from(before + (plain ? screen.text(full) : screen.look(full))));
    });
  }
}

/** Null for a client that does not know its size (0): it never makes a terminal of no size. */
function usableSize(size: Size): Size | null {
  if (size.rows === 0 || size.cols === 0) return null;
  return { rows: Math.min(size.rows, MAX_SIDE), cols: Math.min(size.cols, MAX_SIDE) };
}
