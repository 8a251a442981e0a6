/** `convoy attach`: a person's terminal on a session, until they detach or it ends. */
import process from "node:process";
import { ConvoyError } from "../errors.ts";
import type { Size } from "../protocol.ts";
import { readSession } from "../registry/read.ts";
import { lastRunEnd } from "../run-ends.ts";
import type { ObservedSession } from "../session.ts";
import type { SessionClient } from "../session-host/client.ts";
import { Attachment } from "./attachment.ts";
import type { CommandContext } from "./command.ts";
import { findInside } from "./inside.ts";
import { LentTerminal } from "./lent-terminal.ts";
import { findTarget, hostGone, isLive, openSession, silent, type Target } from "./open-session.ts";
import { pullFrom } from "./pulled-input.ts";
import { describeEnded } from "./session-text.ts";

type Context = Omit<CommandContext, "args">;

/** What detaches from outside; Ctrl-C itself goes to the program. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** Resolves to the exit code: the program's own when it ends, 0 on a detach. */
export async function runAttach(ref: string, context: Context): Promise<number> {
  const target = await findTarget(ref, context);
  refuseInside(target, context);
  const opened = await openSession(target);
  if (opened.state === "ended") return sayEnded(opened.session, null, context);
  const { client } = opened;
  let exitCode: number | null = null;
  client.onMessage((message) => {
    if (message.kind === "exit") exitCode = message.exitCode;
  });
  const terminal = new LentTerminal();
  const attachment = new Attachment(client, terminal, stopSignal());
  const outcome = await attachment.run(pullFrom(0), await sizeWithoutTerminal(target, client));
  if (outcome === "silent") throw silent(target.session, { ok: false, reason: "timeout", message: "" });
  if (outcome === "detached") {
    context.output.note(`detached from ${target.session.name}`);
    return 0;
  }
  const now = await readSession(target.paths.pty, target.session.name);
  if (now !== null && !isLive(now)) return sayEnded(now, exitCode, context);
  if (exitCode !== null) return exitCode;
  throw hostGone(target, now);
}

function refuseInside({ paths, session, identity, busId }: Target, { env }: Context): void {
  const asked = { session, identity: identity ?? session.name, busId: busId ?? session.name };
  if (findInside([asked], paths, env) === null) return;
  const message = `this is typed inside ${session.name}: its terminal would show itself`;
  throw new ConvoyError("usage", message, "type it elsewhere");
}

/** Stays in force: a second signal does not end the process before the terminal is given back. */
function stopSignal(): AbortSignal {
  const stop = new AbortController();
  for (const name of SIGNALS) process.on(name, () => stop.abort());
  return stop.signal;
}

/**
 * Of a client without a terminal: our host takes 0 by 0 as no size at all; another program's host may resize to
 * whatever it is told, so it is told what it has.
 */
async function sizeWithoutTerminal({ session }: Target, client: SessionClient): Promise<Size> {
  const none = { rows: 0, cols: 0 };
  if (session.ledger != null) return none;
  const asked = await client.status();
  return asked.ok ? asked.status.terminal : none;
}

/** Of one that has ended: how, on stderr. `exitCode` is what its host said; without one the record knows. */
function sayEnded(session: ObservedSession, exitCode: number | null, { output }: Context): number {
  const end = lastRunEnd(session);
  output.note(describeEnded(session.name, end));
  return exitCode ?? end.exitCode ?? 1;
}
