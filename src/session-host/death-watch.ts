/**
 * Standing connections to living session hosts. The end of one is the death of its session, told at once and without
 * asking; while one stands, its host keeps no timer of its own.
 */
import { sessionPaths } from "../system/paths.ts";
import { connectSession, type SessionClient } from "./client.ts";

/** A host that cannot be reached (stopped, its socket gone for the moment) is tried again this often. */
const RETRY_MS = 1_000;

interface Watched {
  client: SessionClient | null;
  retry: NodeJS.Timeout | null;
}

/** Death watch over the sessions of the pty folder `registry`; it fits the supervisor's `DeathWatchPort`. */
export function createDeathWatch(registry: string) {
  const watched = new Map<string, Watched>();

  const drop = (name: string) => {
    const entry = watched.get(name);
    watched.delete(name);
    if (entry === undefined) return;
    if (entry.retry !== null) clearTimeout(entry.retry);
    entry.client?.close();
  };

  const connect = async (name: string, entry: Watched, onDeath: (name: string) => void) => {
    const connected = await connectSession(sessionPaths(registry, name).socket);
    if (watched.get(name) !== entry) {
      if (connected.ok) connected.session.close();
      return;
    }
    if (!connected.ok) {
      entry.retry = setTimeout(() => void connect(name, entry, onDeath), RETRY_MS);
      return;
    }
    entry.client = connected.session;
    await connected.session.watch();
    if (watched.get(name) !== entry) return;
    watched.delete(name);
    onDeath(name);
  };

  return {
    /** Watches exactly these sessions from now on; `onDeath` may be called at any time later. */
    watch(names: readonly string[], onDeath: (name: string) => void): void {
      const wanted = new Set(names);
      for (const name of [...watched.keys()]) if (!wanted.has(name)) drop(name);
      for (const name of wanted) {
        if (watched.has(name)) continue;
        const entry: Watched = { client: null, retry: null };
        watched.set(name, entry);
        void connect(name, entry, onDeath);
      }
    },
    close(): void {
      for (const name of [...watched.keys()]) drop(name);
    },
  };
}
