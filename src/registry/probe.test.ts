import { afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { cleanUp, freshFolder, startScript } from "../../test/fakes/network.ts";
import { probeSocket } from "./probe.ts";

const servers: { stop(force: boolean): void }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) server.stop(true);
  await cleanUp();
});

function frame(type: number, payload: string | Buffer): Buffer {
  const bytes = Buffer.from(payload);
  const header = Buffer.alloc(5);
  header.writeUInt8(type, 0);
  header.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([header, bytes]);
}

/** A socket that answers each request with these pieces, one at a time. */
function serve(pieces: readonly Buffer[], close = false): string {
  const path = join(freshFolder(), "s");
  const socket = {
    async data(connection: { write(bytes: Buffer): number; end(): void }) {
      for (const piece of pieces) {
        connection.write(piece);
        await Bun.sleep(1);
      }
      if (close) connection.end();
    },
  };
  servers.push(Bun.listen({ unix: path, socket: socket as never }));
  return path;
}

const STATUS = frame(7, JSON.stringify({ name: "box.a", daemon: { pid: 5 }, process: { pid: 6 } }));
const ANSWERED = { state: "answered", hostPid: 5, childPid: 6, convoy: false } as const;
const SILENT = { state: "silent" } as const;
const ABSENT = { state: "absent" } as const;

describe("probeSocket", () => {
  test.each<[string, readonly Buffer[], object]>([
    ["an answer", [STATUS], ANSWERED],
    ["an answer byte by byte", [...STATUS].map((byte) => Buffer.from([byte])), ANSWERED],
    ["an answer behind terminal output and a screen", [frame(0, "noise"), frame(5, ""), STATUS], ANSWERED],
    [
      "an answer without pids",
      [frame(7, '{"name":"box.a"}')],
      { ...ANSWERED, hostPid: null, childPid: null },
    ],
    [
      "an answer of convoy's own host",
      [frame(7, '{"name":"box.a","convoy":{"version":"1"}}')],
      { ...ANSWERED, hostPid: null, childPid: null, convoy: true },
    ],
    ["another session's answer", [frame(7, '{"name":"box.b"}')], SILENT],
    ["an answer that is no JSON", [frame(7, "{")], SILENT],
    ["another protocol", [Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n")], SILENT],
    ["no answer", [], SILENT],
    ["half an answer", [STATUS.subarray(0, 20)], SILENT],
  ])("%s", async (_, pieces, expected) => {
    expect(await probeSocket(serve(pieces), "box.a", 150)).toEqual(expected as never);
  });

  test("a connection that is closed without an answer", async () => {
    expect(await probeSocket(serve([frame(0, "x")], true), "box.a")).toEqual(SILENT);
  });

  test("nobody there: no file, no socket, no listener", async () => {
    const folder = freshFolder();
    expect(await probeSocket(join(folder, "none"), "box.a")).toEqual(ABSENT);
    writeFileSync(join(folder, "file"), "");
    expect(await probeSocket(join(folder, "file"), "box.a")).toEqual(ABSENT);
    const killed = startScript(`
      Bun.listen({ unix: ${JSON.stringify(join(folder, "s"))}, socket: { data() {} } });
      process.kill(process.pid, "SIGKILL");`);
    await killed.exited;
    expect(await probeSocket(join(folder, "s"), "box.a")).toEqual(ABSENT);
  });

  test("lets its process end, though the other side never lets go", async () => {
    const path = serve([]);
    const asker = startScript(`
      import { probeSocket } from ${JSON.stringify(join(import.meta.dir, "probe.ts"))};
      await probeSocket(${JSON.stringify(path)}, "box.a", 20);`);
    expect(await asker.exited).toBe(0);
    expect(process.exitCode ?? 0).toBe(0);
  });
});
