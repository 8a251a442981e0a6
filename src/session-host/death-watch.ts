/**
 * Tells the death of session hosts at once and without asking: by their life lines, and where there is none by a
 * standing connection, which costs its host a little all the time.
 */
import { ConvoyError, errnoOf } from "../errors.ts";
import { sessionPaths } from "../system/paths.ts";
import { connectSession, type SessionClient } from "./client.ts";
import {
  holdLifeLine,
  type LifeLineWatch,
  makeLifeLine,
  supervisorLinePath,
  watchLifeLine,
} from "./life-line.ts";
import type { SessionFiles } from "./ports.ts";

/** A host that cannot be reached (stopped, its socket gone for the moment) is tried again this often. */
const RETRY_MS = 1_000;

/** This process, or the machine, has as many files open as it may. */
function isCrowded(error: unknown): boolean {
  return ["EMFILE", "ENFILE"].includes(errnoOf(error) ?? "");
}

interface Watched {
  client: SessionClient | null;
  lifeLine: LifeLineWatch | null;
  retry: NodeJS.Timeout | null;
}

/**
 * Death watch over the sessions of the pty folder `registry`; it fits the supervisor's `DeathWatchPort`. From the first
 * `watch` to `close`, hosts take it that their lost files are seen and asked for, and keep no timer of their own.
 */
export function createDeathWatch(registry: string, files: Pick<SessionFiles, "readLedger">) {
  const watched = new Map<string, Watched>();
  let letGo: (() => void) | null = null;

  const drop = (name: string) => {
    const entry = watched.get(name);
    watched.delete(name);
    if (entry === undefined) return;
    if (entry.retry !== null) clearTimeout(entry.retry);
    entry.client?.close();
    entry.lifeLine?.stop();
  };

  /** The life line of the host that the ledger names; null when there is none to hold on to. */
  const openLifeLine = (name: string): LifeLineWatch | null => {
    try {
      const ledger = files.readLedger(name);
      if (ledger === null || ledger.host === null) return null;
      return watchLifeLine(sessionPaths(registry, name).lifeLine, ledger.host, ledger.boot);
    } catch (error) {
      // A torn ledger is reported by the pass that reads it; its host still answers on the socket.
      if (error instanceof ConvoyError) return null;
      throw error;
    }
  };

  const finish = (name: string, entry: Watched, onDeath: (name: string) => void) => {
    if (watched.get(name) !== entry) return;
    watched.delete(name);
    onDeath(name);
  };

  const connect = async (name: string, entry: Watched, onDeath: (name: string) => void) => {
    entry.lifeLine = openLifeLine(name);
    if (entry.lifeLine !== null) {
      await entry.lifeLine.ended;
      finish(name, entry, onDeath);
      return;
    }
    const connected = await connectSession(sessionPaths(registry, name).socket);
    if (watched.get(name) !== entry) {
      if (connected.ok) connected.session.close();
      return;
    }
    if (!connected.ok) {
      entry.retry = setTimeout(() => void follow(name, entry, onDeath), RETRY_MS);
      return;
    }
    entry.client = connected.session;
    await connected.session.watch();
    finish(name, entry, onDeath);
  };

  /** With too many files open, this one is looked at by the timer until there is room again. */
  const follow = async (name: string, entry: Watched, onDeath: (name: string) => void) => {
    try {
      await connect(name, entry, onDeath);
    } catch (error) {
      if (!isCrowded(error)) throw error;
      entry.lifeLine = null;
      if (watched.get(name) !== entry) return;
      entry.retry = setTimeout(() => void follow(name, entry, onDeath), RETRY_MS);
    }
  };

  /** The line that tells hosts of this supervisor; without it they look after themselves. */
  const holdOwnLine = (line: string): (() => void) | null => {
    try {
      return makeLifeLine(line) ? holdLifeLine(line) : null;
    } catch (error) {
      if (!isCrowded(error)) throw error;
      return null;
    }
  };

  return {
    /** Watches exactly these sessions from now on; `onDeath` may be called at any time later. */
    watch(names: readonly string[], onDeath: (name: string) => void): void {
      const line = supervisorLinePath(registry);
      letGo ??= holdOwnLine(line);
      const wanted = new Set(names);
      for (const name of [...watched.keys()]) if (!wanted.has(name)) drop(name);
      for (const name of wanted) {
        if (watched.has(name)) continue;
        const entry: Watched = { client: null, lifeLine: null, retry: null };
        watched.set(name, entry);
        void follow(name, entry, onDeath);
      }
    },
    close(): void {
      for (const name of [...watched.keys()]) drop(name);
      letGo?.();
      letGo = null;
    },
  };
}
