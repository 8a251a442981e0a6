/**
 * A stand-in for a session host: `__session-host <registry> <name> [answer|mute|none] [child command…]`.
 * It binds the session's socket, answers STATUS (or, mute, nothing), runs a child with the session's marks in its
 * environment, and prints its own pid and the child's.
 */
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";

const [, registry = "", name = "", manner = "answer", ...command] = process.argv.slice(2);
const child =
  command.length === 0
    ? null
    : Bun.spawn(command, {
        env: {
          PATH: "/usr/bin:/bin",
          PTY_SESSION: name,
          ST_ROOT: join(dirname(registry), "smalltalk"),
          ST_AGENT: `env.${name}`,
        },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
      });

if (manner !== "none") {
  const status = JSON.stringify({
    name,
    process: { alive: true, exitCode: null, pid: child?.pid ?? null },
    daemon: { pid: process.pid },
  });
  const frame = Buffer.concat([Buffer.alloc(5), Buffer.from(status)]);
  frame.writeUInt8(7, 0);
  frame.writeUInt32BE(Buffer.byteLength(status), 1);
  const noise = Buffer.from([0, 0, 0, 0, 3, 104, 105, 33]);
  Bun.listen({
    unix: join(registry, `${name}.sock`),
    socket: {
      data(socket) {
        if (manner === "answer") socket.write(Buffer.concat([noise, frame]));
      },
    },
  });
  writeFileSync(join(registry, `${name}.pid`), String(process.pid));
}
process.stdout.write(`${process.pid} ${child?.pid ?? ""}\n`);
setInterval(() => undefined, 60_000);
