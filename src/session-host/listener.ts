/** The session's Unix socket: bound with mode 0600, put back when its path is lost, given up with care. */
import { lstatSync, rmSync } from "node:fs";
import process from "node:process";
import { ConvoyError, errnoOf, messageOf } from "../errors.ts";
import { MAX_SOCKET_PATH_BYTES } from "../identity.ts";
import { effect } from "../system/effects.ts";
import { fileIdentity } from "../system/file-identity.ts";
import { connectSession } from "./client.ts";
import type { Connection } from "./connection.ts";

const PROBE_MS = 500;

/** What stands at the socket's path. */
export type SocketState = "ours" | "missing" | "foreign";

export class Listener {
  private readonly path: string;
  private readonly handlers: Bun.SocketHandler<Connection>;
  private server: Bun.UnixSocketListener<Connection> | null = null;
  private identity: string | null = null;

  constructor(path: string, handlers: Bun.SocketHandler<Connection>) {
    this.path = path;
    this.handlers = handlers;
  }

  state(): SocketState {
    const found = lstatSync(this.path, { throwIfNoEntry: false });
    if (found === undefined) return "missing";
    return found.isSocket() && fileIdentity(this.path) === this.identity ? "ours" : "foreign";
  }

  /** The file that was bound last, as `fileIdentity` has it; null when none is. */
  bound(): string | null {
    return this.identity;
  }

  /**
   * Binds the socket. What a dead host left at the path is removed; where somebody answers, or it cannot be bound,
   * a `ConvoyError` is thrown and nothing is touched.
   */
  async bind(): Promise<void> {
    if (Buffer.byteLength(this.path) > MAX_SOCKET_PATH_BYTES)
      throw new ConvoyError("failed", tooLong(this.path));
    // An old listener unlinks the path as it stops, whatever stands there: first it, then the new one.
    if (this.state() !== "foreign") this.stop();
    if (await this.answers()) {
      throw new ConvoyError("failed", `another session host answers on ${this.path}`);
    }
    this.stop();
    rmSync(this.path, { force: true });
    effect("socket-remove");
    this.server = this.listen();
    this.identity = fileIdentity(this.path);
    effect("socket-bind");
  }

  /** Stops listening; connections stay. */
  stop(): void {
    this.server?.stop(false);
    this.server = null;
    this.identity = null;
  }

  private listen(): Bun.UnixSocketListener<Connection> {
    const before = process.umask(0o177);
    try {
      return Bun.listen<Connection>({ unix: this.path, socket: this.handlers });
    } catch (error) {
      throw new ConvoyError("failed", `cannot listen on ${this.path}: ${errnoOf(error) ?? messageOf(error)}`);
    } finally {
      process.umask(before);
    }
  }

  private async answers(): Promise<boolean> {
    if (lstatSync(this.path, { throwIfNoEntry: false })?.isSocket() !== true) return false;
    const connected = await connectSession(this.path, { timeoutMs: PROBE_MS });
    if (!connected.ok) return connected.reason === "timeout";
    connected.session.close();
    return true;
  }
}

function tooLong(path: string): string {
  return `the socket path ${path} has ${Buffer.byteLength(path)} bytes, ${MAX_SOCKET_PATH_BYTES} are possible`;
}
