/** `convoy send`: types into a session, and ends when its host has taken everything. */
import { ConvoyError } from "../errors.ts";
import { type Keyboard, parseKey } from "../keys.ts";
import { readSession } from "../registry/read.ts";
import { DEFAULT_TIMEOUT_MS, type SessionClient, type SessionStatusReply } from "../session-host/client.ts";
import { PASTE_BEGIN, PASTE_END, TypedText } from "../typed-text.ts";
import type { CommandContext } from "./command.ts";
import { findTarget, hostGone, isLive, openSession, silent, type Target } from "./open-session.ts";
import { pullFrom } from "./pulled-input.ts";

export interface SendArguments {
  readonly agent: string;
  readonly text: string | null;
  readonly enter: boolean;
  readonly key: readonly string[];
  readonly paste: boolean;
}

/**
 * Between one key press and what came before it: a program that gets both in one read takes them for a paste, and
 * Escape with what follows for another key.
 */
const KEY_PAUSE_MS = 100;
const WATCH_MS = 250;
const INPUT = 0;

/** Resolves to the exit code. */
export async function runSend(args: SendArguments, context: Omit<CommandContext, "args">): Promise<number> {
  const { text, paste } = args;
  const keys = [...args.key, ...(args.enter ? ["enter"] : [])];
  if (text === null && paste) throw usage("--paste needs a text");
  if (text === null && keys.length === 0) throw usage("there is nothing to type");
  pressed(keys, { applicationCursor: false });
  const target = await findTarget(args.agent, context);
  const opened = await openSession(target);
  if (opened.state === "ended") throw ended(target);
  const typist = new Typist(target, opened.client);
  try {
    const { modes } = await typist.status();
    if (text !== null) await typist.type(text === "-" ? stdin() : [Buffer.from(text)], paste);
    let begun = text !== null;
    for (const bytes of pressed(keys, keyboardOf(modes))) {
      if (begun) await Bun.sleep(KEY_PAUSE_MS);
      begun = true;
      await typist.send(Buffer.from(bytes));
    }
    await typist.taken();
    return 0;
  } finally {
    opened.client.close();
  }
}

/** The bytes of each key. Throws a usage error that names the one that is none. */
function pressed(keys: readonly string[], keyboard: Keyboard): string[] {
  return keys.map((key) => {
    const parsed = parseKey(key, keyboard);
    if ("problem" in parsed) throw usage(`--key ${parsed.problem}`);
    return parsed.bytes;
  });
}

/** Other programs' hosts say nothing of the cursor keys. */
function keyboardOf(modes: unknown): Keyboard {
  const said = (modes as { applicationCursor?: unknown } | null | undefined)?.applicationCursor;
  return { applicationCursor: said === true };
}

async function* stdin(): AsyncGenerator<Uint8Array> {
  const pull = pullFrom(INPUT);
  for (let bytes = await pull(); bytes !== null; bytes = await pull()) yield bytes.slice();
}

/** Whoever types into one session, and waits for its host no longer than it gives a sign of life. */
class Typist {
  private readonly target: Target;
  private readonly client: SessionClient;
  private lastSign = 0;

  constructor(target: Target, client: SessionClient) {
    this.target = target;
    this.client = client;
    // A host that holds this input up says an empty word each second; another program's may send output.
    client.onMessage(() => {
      this.lastSign = performance.now();
    });
  }

  /** How the session is. */
  async status(): Promise<SessionStatusReply> {
    const asked = await this.client.status();
    if (asked.ok) return asked.status;
    throw asked.reason === "closed" ? await this.lost() : silent(this.target.session, asked);
  }

  async type(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, paste: boolean): Promise<void> {
    const text = new TypedText(paste);
    if (paste) await this.send(Buffer.from(PASTE_BEGIN));
    for await (const piece of pieces) await this.send(text.push(piece));
    await this.send(text.finish());
    if (paste) await this.send(Buffer.from(PASTE_END));
  }

  async send(bytes: Uint8Array): Promise<void> {
    if (bytes.length > 0 && !(await this.whileAlive(this.client.sendData(bytes)))) throw await this.lost();
  }

  /** Resolves when the host has taken what was sent: it answers a question that was sent behind it. */
  async taken(): Promise<void> {
    const answer = new Promise<void>((resolve) => {
      this.client.onMessage(({ kind }) => {
        if (kind === "status") resolve();
      });
    });
    const gone = this.client.ended.then(() => "gone" as const);
    void this.client.send({ kind: "status", brief: true });
    if ((await this.whileAlive(Promise.race([answer, gone]))) === "gone") throw await this.lost();
  }

  /** Why the connection has gone. */
  private async lost(): Promise<ConvoyError> {
    const now = await readSession(this.target.paths.pty, this.target.session.name);
    return isLive(now) ? hostGone(this.target, now) : ended(this.target);
  }

  private async whileAlive<T>(work: Promise<T>): Promise<T> {
    let watch: NodeJS.Timeout | undefined;
    this.lastSign = performance.now();
    const dead = new Promise<never>((_, reject) => {
      watch = setInterval(() => {
        if (performance.now() - this.lastSign < DEFAULT_TIMEOUT_MS) return;
        reject(silent(this.target.session, { ok: false, reason: "timeout", message: "" }));
      }, WATCH_MS);
    });
    try {
      return await Promise.race([work, dead]);
    } finally {
      clearInterval(watch);
    }
  }
}

function ended({ session: { name }, flag }: Target): ConvoyError {
  return new ConvoyError("failed", `${name} has ended: nothing reads what is typed`, `convoy ls${flag}`);
}

function usage(message: string): ConvoyError {
  return new ConvoyError("usage", `send: ${message}`, "convoy send --help");
}
