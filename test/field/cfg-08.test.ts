/** CFG-08: a full disk leaves what was there, says so, and needs no repair once there is space. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { BINARY, Field, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
  field.declare("a");
});
afterEach(() => field.remove());

/** Runs shell lines in a mount name space of their own; null where that may not be. */
async function runIsolated(script: string): Promise<string | null> {
  const words = ["unshare", "-Urm", "sh", "-c"];
  const env = field.environment({ CONVOY: BINARY, NET: field.network });
  if (Bun.spawnSync([...words, `mount -t tmpfs -o size=64k none "$HOME"`], { env }).exitCode !== 0) {
    console.log("skipped: a full disk, which needs a mount name space");
    return null;
  }
  const child = Bun.spawn([...words, script], { env, stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  return await new Response(child.stdout).text();
}

const fill = (folder: string) => `cat /dev/zero >"${folder}/fill" 2>/dev/null`;

test(
  "a full home",
  async () => {
    const said = await runIsolated(`mount -t tmpfs -o size=64k none "$HOME"
    { printf '{"history":"'; head -c 20000 /dev/zero | tr '\\0' x; echo '"}'; } >"$HOME/.claude.json"
    cp "$HOME/.claude.json" "${field.root}/before"; ${fill("$HOME")}
    "$CONVOY" up "$NET" --once >"${field.root}/said" 2>&1; echo "code $?"
    cmp "$HOME/.claude.json" "${field.root}/before" && echo same; ls -A "$HOME" | tr '\\n' ' '; echo
    grep -c "no space left" "${field.root}/said"
    rm "$HOME/fill"; "$CONVOY" up "$NET" --once >/dev/null 2>&1; echo "code $?"
    grep -c hasTrustDialogAccepted "$HOME/.claude.json"; ls -A "$HOME" | tr '\\n' ' '`);
    if (said === null) return;
    expect(
      said
        .trimEnd()
        .split("\n")
        .map((line) => line.trim()),
    ).toEqual(["code 1", "same", ".claude.json fill", "1", "code 0", "1", ".claude.json"]);
    expect(field.launches()).toHaveLength(1);
  },
  TEST_MS,
);

test(
  "a full state folder",
  async () => {
    const pty = join(field.network, "pty");
    const said = await runIsolated(`mount -t tmpfs -o size=256k,mode=700 none "${pty}"; ${fill(pty)}
    "$CONVOY" up "$NET" --once >"${field.root}/said" 2>&1; echo "code $?"
    grep -ciE "space|full" "${field.root}/said" >/dev/null && echo named
    find "${pty}" -name '*.json' -size 0; find "${pty}" -name '*.tmp*'
    rm "${pty}/fill"; "$CONVOY" up "$NET" --once >"${field.root}/later" 2>&1; echo "code $?"
    "$CONVOY" down "$NET" >/dev/null 2>&1; echo "code $?"`);
    if (said === null) return;
    expect(said.trimEnd().split("\n")).toEqual(["code 1", "named", "code 0", "code 0"]);
    expect(field.launches()).toHaveLength(1);
  },
  TEST_MS,
);
