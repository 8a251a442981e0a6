/**
 * Bounded respawn (SUP-R12) over a session's `strategy.*` tags: the wire format that pty's `gc` reads and writes
 * too, so keys, values and decisions follow it exactly (test/fixtures/flapping.json).
 * Whether a session is to run at all (batch, holds, retirement) is not decided here.
 */

export const FAST_FAILS_TAG = "strategy.consecutive-fast-fails";
export const LAST_RESPAWN_TAG = "strategy.last-respawn-at";
export const COMMAND_HASH_TAG = "strategy.command-hash";
export const STATUS_TAG = "strategy.status";
export const WINDOW_TAG = "strategy.fast-fail-window";
export const LIMIT_TAG = "strategy.fast-fail-limit";
export const FLAPPING = "flapping";

/** The four tags of the accounting; without them a session is as if it had never failed. */
export const ACCOUNTING_TAGS = [STATUS_TAG, FAST_FAILS_TAG, LAST_RESPAWN_TAG, COMMAND_HASH_TAG] as const;

export const DEFAULT_WINDOW_SECONDS = 60;
export const DEFAULT_LIMIT = 3;

export interface RespawnInput {
  readonly tags: Readonly<Record<string, string>>;
  /** The command that would run now. */
  readonly command: string;
  readonly args: readonly string[];
  /** ISO 8601; null when nobody saw the end (vanished). */
  readonly exitedAt: string | null;
  /** Time of the pass. */
  readonly now: Date;
  /** Below the session's own override tag, above the default; not positive is ignored. */
  readonly windowSeconds?: number;
  readonly limit?: number;
}

export interface RespawnDecision {
  readonly action: "respawn" | "flap" | "skip";
  /** `set` and `remove` are the whole patch to the session's tags. */
  readonly set: Record<string, string>;
  readonly remove: string[];
  /** Consecutive fast failures, with the one judged here. */
  readonly fastFails: number;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** First 16 hex digits of SHA-256 over `command`, NUL, and `args` joined by NUL. */
export function commandHash(command: string, args: readonly string[]): string {
  const text = [command, args.join("\0")].join("\0");
  return new Bun.CryptoHasher("sha256").update(text, "utf8").digest("hex").slice(0, 16);
}

/** Whether the session is parked for the command it would run: a changed command is not. */
export function isParked(
  tags: Readonly<Record<string, string>>,
  command: string,
  args: readonly string[],
): boolean {
  return tags[STATUS_TAG] === FLAPPING && !hasChanged(tags, commandHash(command, args));
}

/**
 * What to do about a session that died. "skip": it is parked and stays so. "flap": this failure reached the limit,
 * park it. "respawn": launch it again, with the patch on its tags.
 */
export function decideRespawn(input: RespawnInput): RespawnDecision {
  const facts = factsOf(input);
  if (facts.parked) return decision("skip", facts.counter, facts, {}, []);
  const fastFails = !facts.afresh && diedFast(input, facts.windowSeconds) ? facts.counter + 1 : 0;
  if (fastFails < facts.limit) return respawn(fastFails, facts, input);
  const set = { [FAST_FAILS_TAG]: String(fastFails), [COMMAND_HASH_TAG]: facts.hash, [STATUS_TAG]: FLAPPING };
  return decision("flap", fastFails, facts, set, []);
}

/**
 * The patch for a launch that failed outright; it takes the place of `decideRespawn`'s, on the tags before it.
 * Counts one failure, whatever the time since the last.
 */
export function decideFailedLaunch(input: RespawnInput): RespawnDecision & { action: "respawn" | "flap" } {
  const facts = factsOf(input);
  const fastFails = (facts.afresh ? 0 : facts.counter) + 1;
  if (fastFails < facts.limit) return respawn(fastFails, facts, input);
  const set = { ...launchTags(fastFails, facts, input), [STATUS_TAG]: FLAPPING };
  return decision("flap", fastFails, facts, set, []);
}

/** The failures counted so far, and the bounds that hold for a session with these tags. */
export function readCap(
  tags: Readonly<Record<string, string>>,
  overrides: { readonly windowSeconds?: number; readonly limit?: number },
): { fastFails: number; limit: number; windowSeconds: number } {
  return {
    fastFails: Math.max(0, readInteger(tags[FAST_FAILS_TAG]) ?? 0),
    limit: firstPositive(readInteger(tags[LIMIT_TAG]), overrides.limit) ?? DEFAULT_LIMIT,
    windowSeconds:
      firstPositive(readInteger(tags[WINDOW_TAG]), overrides.windowSeconds) ?? DEFAULT_WINDOW_SECONDS,
  };
}

/** Whether these tags were counted for another command than this one. */
export function isChangedCommand(
  tags: Readonly<Record<string, string>>,
  command: string,
  args: readonly string[],
): boolean {
  return hasChanged(tags, commandHash(command, args));
}

interface Facts {
  readonly hash: string;
  readonly counter: number;
  readonly parked: boolean;
  /** The failures so far do not count: the command changed, or a person took the status away. */
  readonly afresh: boolean;
  readonly limit: number;
  readonly windowSeconds: number;
}

function factsOf(input: RespawnInput): Facts {
  const { tags } = input;
  const hash = commandHash(input.command, input.args);
  const changed = hasChanged(tags, hash);
  const flapping = tags[STATUS_TAG] === FLAPPING;
  const { fastFails: counter, limit, windowSeconds } = readCap(tags, input);
  const cleared = !flapping && counter >= limit;
  return { hash, counter, parked: flapping && !changed, afresh: changed || cleared, limit, windowSeconds };
}

/** No hash written yet is no change. */
function hasChanged(tags: Readonly<Record<string, string>>, hash: string): boolean {
  const written = tags[COMMAND_HASH_TAG];
  return written !== undefined && written !== hash;
}

/** As `parseInt(x, 10)` reads it; null when that is no number that can be counted with. */
function readInteger(text: string | undefined): number | null {
  const value = Number.parseInt(text ?? "", 10);
  return Number.isSafeInteger(value) ? value : null;
}

function firstPositive(...values: readonly (number | null | undefined)[]): number | undefined {
  return values.find((value): value is number => typeof value === "number" && value > 0);
}

/** Within the window of the last respawn; without an exit time it ended before this pass at the latest. */
function diedFast({ tags, exitedAt, now }: RespawnInput, windowSeconds: number): boolean {
  const respawnedMs = Date.parse(tags[LAST_RESPAWN_TAG] ?? "");
  const endedMs = exitedAt === null ? now.getTime() : Date.parse(exitedAt);
  const livedMs = endedMs - respawnedMs;
  return livedMs >= 0 && livedMs < windowSeconds * 1000;
}

function launchTags(fastFails: number, { hash }: Facts, { now }: RespawnInput): Record<string, string> {
  return {
    [LAST_RESPAWN_TAG]: now.toISOString(),
    [FAST_FAILS_TAG]: String(fastFails),
    [COMMAND_HASH_TAG]: hash,
  };
}

function respawn(fastFails: number, facts: Facts, input: RespawnInput) {
  const remove = input.tags[STATUS_TAG] === undefined ? [] : [STATUS_TAG];
  return decision("respawn", fastFails, facts, launchTags(fastFails, facts, input), remove);
}

function decision<Action extends RespawnDecision["action"]>(
  action: Action,
  fastFails: number,
  { limit, windowSeconds }: Facts,
  set: Record<string, string>,
  remove: string[],
): RespawnDecision & { action: Action } {
  return { action, set, remove, fastFails, limit, windowSeconds };
}
