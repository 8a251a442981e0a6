/**
 * The session host: the process that owns one program's terminal. It outlives whoever started it, answers on the
 * session's socket, keeps the registry files, and writes down how the program ended.
 */
import process from "node:process";
import { agentEnvironment } from "../environment.ts";
import { messageOf } from "../errors.ts";
import type { Size } from "../protocol.ts";
import { sessionPaths } from "../system/paths.ts";
import { resourcesOf } from "../system/resources.ts";
import { eventsOf } from "../terminal-events.ts";
import { TerminalModes } from "../terminal-modes.ts";
import { replyTo } from "../terminal-queries.ts";
import { type Scan, TerminalScanner } from "../terminal-scan.ts";
import { Clients } from "./clients.ts";
import { EventLog } from "./event-log.ts";
import { HostFiles } from "./host-files.ts";
import { Keeper } from "./keeper.ts";
import { holdLifeLine, supervisorLinePath } from "./life-line.ts";
import { Listener } from "./listener.ts";
import type { SessionFiles } from "./ports.ts";
import { type Program, startProgram } from "./program.ts";
import { Screen } from "./screen.ts";
import { describeStatus, type StatusFacts } from "./status.ts";
import type { XtermScreen } from "./xterm-screen.ts";

const FIRST_SIZE: Size = { rows: 24, cols: 80 };
const LAST_LINES = 200;
/** A program that asks and does not read its answers gets no more of them. */
const UNREAD_REPLIES_BYTES = 64 * 1024;
const HANGUP_GRACE_MS = 2_000;
const EXIT_WAIT_MS = 500;
/** pty's `stats` waits two seconds for an answer. */
const STATUS_WAIT_MS = 1_000;
/** Garbage of a burst of output is collected once it has been quiet for this long. */
const TIDY_AFTER_MS = 1_000;
const TIDY_BYTES = 64 * 1024;

export interface SessionHostOptions {
  /** The pty folder of the network, absolute. */
  readonly registry: string;
  /** Session id. */
  readonly name: string;
  readonly files: SessionFiles;
  /** Convoy's version. */
  readonly version: string;
}

/**
 * Runs one session to its end: the body of `<binary> __session-host <registry> <name>`. Gives the process's exit
 * code: 0 when the program ran and its end was written down, 1 when it could not be started (the ledger says why).
 */
export async function runSessionHost(options: SessionHostOptions): Promise<number> {
  const files = await takeOver(options);
  if (files === null) return 1;
  const host = new SessionHost(files, options);
  try {
    await host.start();
  } catch (error) {
    await host.giveUp(messageOf(error));
    return 1;
  }
  await host.runToEnd();
  return 0;
}

/** The files of the launch that this process is to run; null, said on stderr, when it is not its to run. */
async function takeOver(options: SessionHostOptions): Promise<HostFiles | null> {
  try {
    const files = new HostFiles(options.registry, options.name, options.files);
    await files.claim();
    return files;
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    return null;
  }
}

class SessionHost {
  private readonly files: HostFiles;
  private readonly registry: string;
  private readonly name: string;
  private readonly version: string;
  private readonly scanner = new TerminalScanner();
  private readonly modes = new TerminalModes();
  private readonly screen: Screen;
  private readonly clients: Clients;
  private readonly events: EventLog;
  private readonly listener: Listener;
  private readonly keeper: Keeper;
  private program: Program | null = null;
  /** When the program was started, on this process's own clock. */
  private startedAt: number | null = null;
  private size = FIRST_SIZE;
  private terminated = false;
  private exitCode: number | null = null;
  private untidy = 0;
  private tidier: NodeJS.Timeout | null = null;

  constructor(files: HostFiles, { registry, name, version }: SessionHostOptions) {
    this.files = files;
    this.registry = registry;
    this.name = name;
    this.version = version;
    this.screen = new Screen(FIRST_SIZE, this.report);
    this.events = new EventLog(name, (event) => this.guard(() => files.appendEvent(event)));
    this.clients = this.makeClients();
    this.listener = new Listener(files.paths.socket, this.clients.handlers);
    this.keeper = new Keeper(files, this.listener, supervisorLinePath(registry), this.report);
  }

  /** Binds the socket and starts the program. Throws when it cannot. */
  async start(): Promise<void> {
    this.takeSignals();
    holdLifeLine(sessionPaths(this.registry, this.name).lifeLine);
    await this.listener.bind();
    this.files.writePid();
    const { spec, baseEnv } = this.files.ledger;
    this.program = startProgram(spec, agentEnvironment(baseEnv, spec), this.size, {
      output: (bytes) => this.guard(() => this.takeOutput(this.scanner.scan(bytes))),
      drained: () => this.clients.inputTaken(),
    });
    this.startedAt = performance.now();
    await this.files.noteChild(this.program.pid, this.listener.bound());
    await this.files.completeRecord().catch(this.report);
    this.events.write("session_start", { tags: { ...this.files.ledger.tags } });
    this.keeper.start();
    this.noteGarbage(TIDY_BYTES);
    if (this.terminated) this.endProgram();
  }

  /** The launch failed: says why in the ledger and leaves nothing behind. */
  async giveUp(reason: string): Promise<void> {
    this.program?.signal("SIGKILL");
    await this.files.recordFailure(reason);
    this.files.removeOwn();
  }

  /** Waits for the program's end, writes it down, and tells everybody. */
  async runToEnd(): Promise<void> {
    const { exitCode, signal } = await this.program!.exited;
    this.takeOutput(this.scanner.flush());
    this.exitCode = exitCode;
    await this.keeper.stop();
    const lastLines = await this.screen.tail(LAST_LINES);
    const end = { exitCode, exitedAt: new Date().toISOString(), lastLines, error: null };
    await this.files.recordEnd(end, this.terminated).catch(this.report);
    this.events.flush();
    this.events.write("session_exit", signal === null ? { exitCode } : { exitCode, signal });
    if (this.files.ownsPid()) this.listener.stop();
    this.guard(() => this.files.removeOwn());
    await this.clients.sayExit(exitCode, EXIT_WAIT_MS);
  }

  private takeOutput(scan: Scan): void {
    const unattended = !this.clients.hasAttached;
    const { from, to } = scan.drawn;
    let written = from;
    for (const { sequence, end } of scan.found) {
      for (const event of eventsOf(sequence, this.modes)) this.events.raise(event);
      this.modes.apply(sequence);
      if (!unattended) continue;
      const reply = replyTo(sequence, { ...this.size, modes: this.modes, version: this.version });
      if (typeof reply === "string") this.screen.inOrder(() => this.answer(reply));
      if (typeof reply !== "function") continue;
      this.screen.write(scan.bytes.subarray(written, end), end - written);
      written = end;
      this.screen.look((screen) => this.answer(reply(screen.cursor())));
    }
    this.screen.write(scan.bytes.subarray(written, to), Math.min(scan.flowFrom, to) - written);
    this.clients.output(scan);
    this.noteGarbage(scan.bytes.length);
  }

  private answer(reply: string): void {
    if (this.program === null || this.program.outstanding() > UNREAD_REPLIES_BYTES) return;
    this.program.write(reply);
  }

  private makeClients(): Clients {
    return new Clients({
      size: () => this.size,
      resize: (size) => {
        this.size = size;
        this.screen.resize(size);
        this.program?.resize(size);
      },
      input: (bytes) => this.program?.write(bytes),
      outstanding: () => this.program?.outstanding() ?? 0,
      atBoundary: () => this.scanner.atBoundary,
      look: (action) => {
        this.screen.look(action);
        this.noteGarbage(TIDY_BYTES);
      },
      replay: (screen) => screen.replay() + this.modes.restore(),
      status: (brief, answer) => this.answerStatus(brief, answer),
      attached: () => void this.files.noteAttach().catch(this.report),
      watched: (watched) => this.keeper.setConnected(watched),
    });
  }

  /** A question that may not be answered briefly is a look: what only an emulator knows is said when it is loaded in time. */
  private answerStatus(brief: boolean, answer: (text: string) => void): void {
    if (brief) {
      answer(this.describe(this.screen.ifLoaded()));
      return;
    }
    let answered = false;
    const say = (screen: XtermScreen | null) => {
      clearTimeout(timer);
      if (!answered) answer(this.describe(screen));
      answered = true;
    };
    const timer = setTimeout(() => say(null), STATUS_WAIT_MS).unref();
    this.screen.look(say);
    this.noteGarbage(TIDY_BYTES);
  }

  private describe(screen: XtermScreen | null): string {
    const { ledger } = this.files;
    const { startedAt, version } = this;
    const facts: StatusFacts = {
      name: this.name,
      size: this.size,
      screen,
      modes: this.modes,
      pid: this.program?.pid ?? null,
      exitCode: this.exitCode,
      hostPid: process.pid,
      clients: this.clients.counts(),
      uptimeSeconds: startedAt === null ? null : Math.floor((performance.now() - startedAt) / 1_000),
      createdAt: ledger.launchedAt,
      convoy: {
        version,
        protocol: ledger.protocol,
        launchId: ledger.launchId,
        connections: this.clients.connections,
      },
    };
    return JSON.stringify(describeStatus(facts, resourcesOf));
  }

  private takeSignals(): void {
    process.on("SIGTERM", () => {
      this.terminated = true;
      // Who asks for the end may be about to take the session over: what it removes now is not put back.
      void this.keeper.stop().catch(this.report);
      this.endProgram();
    });
    process.on("SIGWINCH", () => this.guard(() => this.keeper.check()));
    // Nobody's terminal is its own: what ends a terminal's processes is not meant for it.
    for (const name of ["SIGHUP", "SIGINT", "SIGQUIT"] as const) process.on(name, () => {});
    process.on("uncaughtException", this.report);
    process.on("unhandledRejection", this.report);
  }

  /** Ends the program as the closing of its terminal would; what does not go is killed. */
  private endProgram(): void {
    if (this.program === null || this.exitCode !== null) return;
    const program = this.program;
    program.signal("SIGHUP");
    setTimeout(() => {
      if (this.exitCode === null) program.signal("SIGKILL");
    }, HANGUP_GRACE_MS);
  }

  private noteGarbage(bytes: number): void {
    this.untidy += bytes;
    if (this.untidy < TIDY_BYTES || this.tidier !== null) return;
    this.tidier = setTimeout(() => {
      this.tidier = null;
      this.untidy = 0;
      Bun.gc(true);
    }, TIDY_AFTER_MS).unref();
  }

  private guard(body: () => void): void {
    try {
      body();
    } catch (error) {
      this.report(error);
    }
  }

  /** A host lives as long as its program: what goes wrong is said in the session's log, and on stderr. */
  private readonly report = (error: unknown): void => {
    const message = messageOf(error);
    process.stderr.write(`${this.name}: ${message}\n`);
    try {
      this.files.appendEvent({
        session: this.name,
        type: "host_problem",
        ts: new Date().toISOString(),
        message,
      });
    } catch (again) {
      process.stderr.write(`${this.name}: ${messageOf(again)}\n`);
    }
  };
}
