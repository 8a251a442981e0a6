/** CFG-08: a full disk leaves what was there, says so, and needs no repair once there is space. */
import { afterEach, beforeEach, expect } from "bun:test";
import { join } from "node:path";
import { missingUnless, skippable } from "../support/skippable.ts";
import { BINARY, Field, TEST_MS } from "./kit.ts";

let field: Field;
beforeEach(() => {
  field = new Field();
  field.declare("a");
});
afterEach(() => field.remove());

const ISOLATED = ["unshare", "-Urm", "sh", "-c"] as const;
const noMounts = missingUnless(
  [...ISOLATED, "mount -t tmpfs -o size=64k none /tmp"],
  "it needs a mount name space",
);

/** Runs shell lines in a mount name space of their own. */
async function runIsolated(script: string): Promise<string> {
  const env = field.environment({ CONVOY: BINARY, NET: field.network });
  const child = Bun.spawn([...ISOLATED, script], { env, stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  return await new Response(child.stdout).text();
}

const fill = (folder: string) => `cat /dev/zero >"${folder}/fill" 2>/dev/null`;

skippable(
  "a full home",
  noMounts,
  async () => {
    const said = await runIsolated(`mount -t tmpfs -o size=64k none "$HOME"
    { printf '{"history":"'; head -c 20000 /dev/zero | tr '\\0' x; echo '"}'; } >"$HOME/.claude.json"
    cp "$HOME/.claude.json" "${field.root}/before"; ${fill("$HOME")}
    "$CONVOY" up "$NET" --once >"${field.root}/said" 2>&1; echo "code $?"
    cmp "$HOME/.claude.json" "${field.root}/before" && echo same; ls -A "$HOME" | tr '\\n' ' '; echo
    grep -c "no space left" "${field.root}/said"
    rm "$HOME/fill"; "$CONVOY" up "$NET" --once >/dev/null 2>&1; echo "code $?"
    grep -c hasTrustDialogAccepted "$HOME/.claude.json"; ls -A "$HOME" | tr '\\n' ' '`);
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

skippable(
  "a full state folder",
  noMounts,
  async () => {
    const pty = join(field.network, "pty");
    const said = await runIsolated(`mount -t tmpfs -o size=256k,mode=700 none "${pty}"; ${fill(pty)}
    "$CONVOY" up "$NET" --once >"${field.root}/said" 2>&1; echo "code $?"
    grep -ciE "space|full" "${field.root}/said" >/dev/null && echo named
    find "${pty}" -name '*.json' -size 0; find "${pty}" -name '*.tmp*'
    rm "${pty}/fill"; "$CONVOY" up "$NET" --once >"${field.root}/later" 2>&1; echo "code $?"
    "$CONVOY" down "$NET" >/dev/null 2>&1; echo "code $?"`);
    expect(said.trimEnd().split("\n")).toEqual(["code 1", "named", "code 0", "code 0"]);
    expect(field.launches()).toHaveLength(1);
  },
  TEST_MS,
);
