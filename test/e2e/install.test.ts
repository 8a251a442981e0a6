/** scripts/install on real files: what it takes, what it refuses, and that nothing is half done. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { missingPrograms, skippable } from "../support/skippable.ts";
import { BINARY, type Ran } from "./binary.ts";
import { DEADLINE_MS, isAlive, Net, snapshot, until } from "./kit.ts";

// The whole program is copied and summed.
setDefaultTimeout(10 * DEADLINE_MS);

const INSTALL = join(import.meta.dir, "../../scripts/install");
const NOBODY = 65_534;
/** A stand-in for a built file: it starts, and says its version. */
const NEW = '#!/bin/sh\necho "convoy 9.9.9"\n';
const OLD = '#!/bin/sh\necho "convoy 1.1.1"\n';

let net: Net;
let from: string;
let target: string;
beforeEach(async () => {
  net = new Net();
  from = join(net.home, "from");
  target = (await install(["--print-target"])).stdout.trim();
  offer({ [`convoy-${target}`]: NEW });
});
afterEach(() => net.remove());

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  /** Put before the script. */
  readonly through?: readonly string[];
  /** Leader of a process group of its own. */
  readonly detached?: boolean;
}

function start(words: readonly string[], { env = {}, through = [], detached = false }: Options = {}) {
  return Bun.spawn([...through, INSTALL, ...words], {
    cwd: net.home,
    detached,
    env: { ...net.env(), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function install(words: readonly string[], options: Options = {}): Promise<Ran> {
  const child = start(words, options);
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

/** Makes `from` hold these files and their sums; a file that is not text is copied. */
function offer(files: Readonly<Record<string, string | { copyOf: string }>>): void {
  mkdirSync(from, { recursive: true });
  const sums = Object.entries(files).map(([name, file]) => {
    const path = join(from, name);
    if (typeof file === "string") writeFileSync(path, file);
    else copyFileSync(file.copyOf, path);
    return `${sumOf(path)}  ${name}\n`;
  });
  writeFileSync(join(from, "SHA256SUMS"), sums.join(""));
}

function sumOf(path: string): string {
  return new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");
}

const place = (folder = ".local/bin") => join(net.home, folder, "convoy");

/** Puts an old convoy there; returns a check that nothing in its folder was touched. */
function installOld(folder = ".local/bin"): () => void {
  mkdirSync(join(net.home, folder), { recursive: true });
  writeFileSync(place(folder), OLD, { mode: 0o755 });
  const before = snapshot(join(net.home, folder));
  return () => expect(snapshot(join(net.home, folder))).toEqual(before);
}

/** What the script may call. */
const PROGRAMS =
  "cat chmod cp curl cut dirname grep head ldd ls mkdir mv rm sed sh sha256sum shasum tr uname wget".split(
    " ",
  );

/** A folder of links to these programs, but for some. */
function pathWithout(...names: readonly string[]): string {
  const folder = join(net.home, "programs");
  mkdirSync(folder);
  for (const name of PROGRAMS) {
    const path = Bun.which(name);
    if (path !== null && !names.includes(name)) symlinkSync(path, join(folder, name));
  }
  return folder;
}

test("it is put into ~/.local/bin, and what to do about the PATH is said", async () => {
  expect(await install([from])).toEqual({
    code: 0,
    stdout: `${place()}\n`,
    stderr: `Installed convoy 9.9.9.\n${net.home}/.local/bin is not on your PATH. Put this into your shell's profile: export PATH="${net.home}/.local/bin:$PATH"\n`,
  });
  expect(readFileSync(place(), "utf8")).toBe(NEW);
  expect(statSync(place()).mode & 0o777).toBe(0o755);
  expect(readdirSync(join(net.home, ".local/bin"))).toEqual(["convoy"]);
});

test("another folder, given as a relative path, and on the PATH", async () => {
  const env = { PATH: `${net.home}/its own/bin:${process.env.PATH}` };
  expect(await install(["--prefix", "its own/bin", from], { env })).toEqual({
    code: 0,
    stdout: `${place("its own/bin")}\n`,
    stderr: "Installed convoy 9.9.9.\n",
  });
});

test("over an old one it says how to go on, and which other one comes first on the PATH", async () => {
  installOld();
  net.program("convoy", OLD);
  const env = { PATH: `${net.bin}:${net.home}/.local/bin:${process.env.PATH}` };
  const { code, stderr } = await install([from], { env });
  expect([code, readFileSync(place(), "utf8")]).toEqual([0, NEW]);
  expect(stderr.split("\n")).toEqual([
    "Installed convoy 9.9.9.",
    "What runs of the old one runs on. For a supervisor of the new one, end the old and type: convoy up --detach",
    `Before it on your PATH is ${net.bin}/convoy: remove that, or type ${place()}.`,
    "",
  ]);
});

test("the folder of the script itself is taken when none is named", async () => {
  copyFileSync(INSTALL, join(from, "install"));
  const child = Bun.spawn([join(from, "install")], { cwd: "/", env: net.env(), stderr: "ignore" });
  expect(await child.exited).toBe(0);
  expect(readFileSync(place(), "utf8")).toBe(NEW);
});

/** What is done to the folder before, and what is said. */
const REFUSED: Readonly<Record<string, () => readonly [readonly string[], string | RegExp]>> = {
  "a wrong sum"() {
    writeFileSync(join(from, `convoy-${target}`), `${NEW}# more\n`);
    return [[], /^install: convoy-\S+ has the SHA-256 sum [0-9a-f]{64}, and should have [0-9a-f]{64}: .*\n$/];
  },
  "a file that is cut off"() {
    writeFileSync(join(from, `convoy-${target}`), "");
    return [[], /has the SHA-256 sum e3b0c44298fc/];
  },
  "a machine that nothing was built for"() {
    return [["--target", "plan9-mips"], /has no convoy-plan9-mips: it is built for /];
  },
  "a file that is not there"() {
    offer({ [`convoy-${target}`]: NEW, "convoy-other": NEW });
    return [["--target", "other2"], /has no convoy-other2/];
  },
  "a file that does not start here"() {
    offer({ [`convoy-${target}`]: "#!/bin/sh\necho 'no such loader' >&2; exit 127\n" });
    return [[], `install: convoy-${target} does not start here: no such loader\n`];
  },
  "a folder without sums"() {
    return [
      [net.home],
      `install: there is no ${net.home}/SHA256SUMS: make it with scripts/build, or name another folder or address\n`,
    ];
  },
};

for (const [what, prepare] of Object.entries(REFUSED))
  test(`${what} is refused in one line, and the old one stays as it is`, async () => {
    const untouched = installOld();
    const [words, said] = prepare();
    const ran = await install([...(words[0]?.startsWith("/") ? [] : [from]), ...words]);
    const stderr = typeof said === "string" ? said : expect.stringMatching(said);
    expect(ran).toEqual({ code: 1, stdout: "", stderr });
    expect(ran.stderr.trimEnd().split("\n")).toHaveLength(1);
    untouched();
  });

test("a listed file that is missing, a place that is a folder, a folder that is a file", async () => {
  const untouched = installOld();
  offer({ [`convoy-${target}`]: NEW, "convoy-gone": NEW });
  await Bun.file(join(from, "convoy-gone")).delete();
  mkdirSync(join(net.home, "full/convoy"), { recursive: true });
  for (const [words, said] of [
    [["--target", "gone"], `install: there is no ${from}/convoy-gone: `],
    [
      ["--prefix", "full"],
      `install: ${net.home}/full/convoy is a folder: name another place with --prefix\n`,
    ],
    [
      ["--prefix", "from/SHA256SUMS"],
      "install: cannot make the folder from/SHA256SUMS: name another with --prefix\n",
    ],
  ] as const) {
    const ran = await install([from, ...words]);
    expect(ran).toEqual({ code: 1, stdout: "", stderr: expect.stringContaining(said) });
  }
  untouched();
  expect(readdirSync(join(net.home, "full"))).toEqual(["convoy"]);
});

test("wrong usage", async () => {
  for (const words of [["--prefix"], ["--prefix", ""], ["--force"], [from, from], [from, "--target", "a/b"]])
    expect([words, (await install(words)).code]).toEqual([words, 2]);
  expect(readdirSync(net.home).sort()).toEqual(["bin", "from", "n"]);
});

test("without a program that makes sums nothing is installed; shasum will do", async () => {
  const untouched = installOld();
  const programs = pathWithout("sha256sum", "shasum");
  const env = { PATH: programs };
  expect(await install([from], { env })).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "install: neither sha256sum nor shasum is there to check the file with: install one (coreutils, perl)\n",
  });
  untouched();
  const real = Bun.which("sha256sum") ?? Bun.which("shasum");
  writeFileSync(join(programs, "shasum"), `#!/bin/sh\n[ "$1 $2" = "-a 256" ] && exec ${real}\n`, {
    mode: 0o755,
  });
  expect(await install([from], { env })).toMatchObject({ code: 0 });
  expect(readFileSync(place(), "utf8")).toBe(NEW);
});

const isRoot = process.getuid?.() === 0;
skippable(
  "in a folder that may not be written nothing changes",
  isRoot ? missingPrograms("setpriv") : null,
  async () => {
    installOld();
    chmodSync(net.home, 0o755);
    const folder = join(net.home, ".local/bin");
    chmodSync(folder, 0o555);
    if (isRoot) chownSync(folder, NOBODY, NOBODY);
    const through = isRoot ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : [];
    const before = snapshot(folder);
    expect(await install([from], { through })).toEqual({
      code: 1,
      stdout: "",
      stderr: `install: cannot write in ${folder}: name another folder with --prefix\n`,
    });
    expect(snapshot(folder)).toEqual(before);
  },
);

for (const [program, other] of [
  ["curl", "wget"],
  ["wget", "curl"],
] as const)
  skippable(`from an address, with ${program}`, missingPrograms(program), async () => {
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: ({ url }) => {
        const file = Bun.file(join(from, new URL(url).pathname.replace("/files/", "")));
        return file.size > 0 ? new Response(file) : new Response("none", { status: 404 });
      },
    });
    try {
      const address = `http://127.0.0.1:${server.port}/files`;
      const env = { PATH: pathWithout(other) };
      expect(await install([`${address}/`], { env })).toMatchObject({ code: 0, stdout: `${place()}\n` });
      expect(readFileSync(place(), "utf8")).toBe(NEW);
      const before = snapshot(join(net.home, ".local/bin"));
      const ran = await install([`${address}/nothing`], { env });
      expect(ran).toMatchObject({ code: 1, stdout: "" });
      expect(ran.stderr).toStartWith(`install: cannot fetch ${address}/nothing/SHA256SUMS`);
      expect(snapshot(join(net.home, ".local/bin"))).toEqual(before);
    } finally {
      await server.stop(true);
    }
  });

skippable(
  "ended in the middle it leaves the old one, and nothing of its own",
  missingPrograms("curl"),
  async () => {
    const untouched = installOld();
    let asked = false;
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: ({ url }) => {
        if (url.endsWith("SUMS")) return new Response(Bun.file(join(from, "SHA256SUMS")));
        asked = true;
        return new Promise<Response>(() => {});
      },
    });
    try {
      const child = start([`http://127.0.0.1:${server.port}`], { detached: true });
      await until("the file to be asked for", () => asked);
      process.kill(-child.pid, "SIGTERM");
      expect(await child.exited).toBe(143);
    } finally {
      await server.stop(true);
    }
    untouched();
  },
);

test("this machine, by what its own programs say of it", async () => {
  const machines: [string, string, string, string][] = [
    ["Linux", "x86_64", "ldd (Debian GLIBC 2.36-9) 2.36", "linux-x64"],
    ["Linux", "amd64", "ldd (GNU libc) 2.39", "linux-x64"],
    ["Linux", "aarch64", "ldd (Ubuntu GLIBC 2.39) 2.39", "linux-arm64"],
    ["Linux", "x86_64", "musl libc (x86_64)\nVersion 1.2.5", "linux-x64-musl"],
    ["Linux", "aarch64", "musl libc (aarch64)\nVersion 1.2.5", "linux-arm64-musl"],
    ["Darwin", "x86_64", "", "darwin-x64"],
    ["Darwin", "arm64", "", "darwin-arm64"],
  ];
  for (const [system, machine, ldd, name] of machines) {
    net.program("uname", `#!/bin/sh\ncase $1 in -s) echo ${system} ;; -m) echo ${machine} ;; esac\n`);
    net.program("ldd", `#!/bin/sh\nprintf '%s\\n' '${ldd}' >&2; exit 1\n`);
    expect(await install(["--print-target"])).toEqual({ code: 0, stdout: `${name}\n`, stderr: "" });
  }
  net.program("uname", "#!/bin/sh\necho Plan9\n");
  const { code, stderr } = await install([from]);
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^install: there is no convoy for Plan9: .*\n$/)]);
});

test("a file for macOS whose signature does not fit is signed before it is put in place", async () => {
  net.program("uname", "#!/bin/sh\ncase $1 in -s) echo Darwin ;; -m) echo arm64 ;; esac\n");
  offer({ "convoy-darwin-arm64": NEW });
  const said = join(net.home, "said");
  net.program(
    "codesign",
    `#!/bin/sh\necho "$1" >>"${said}"; [ "$1" != --verify ] || [ -e "${net.home}/signed" ]\n`,
  );
  expect(await install([from])).toMatchObject({ code: 0 });
  writeFileSync(join(net.home, "signed"), "");
  expect(await install([from])).toMatchObject({ code: 0 });
  expect(readFileSync(said, "utf8").split("\n")).toEqual(["--verify", "--force", "--verify", ""]);
});

test("put over one that runs: its supervisor and sessions live on, and the new one shows them", async () => {
  offer({ [`convoy-${target}`]: { copyOf: BINARY } });
  expect(await install([from])).toMatchObject({ code: 0 });
  const run = async (words: readonly string[]) => {
    const child = Bun.spawn([place(), ...words, "--network", net.root], {
      cwd: net.home,
      env: net.env(),
      stderr: "pipe",
    });
    return { stdout: await new Response(child.stdout).text(), code: await child.exited };
  };
  net.declare("a");
  const supervisor = Number((await run(["up", "--detach"])).stdout);
  const agent = await net.running("a");
  const old = statSync(place()).ino;

  const again = await install([from]);
  expect(again).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("What runs of the old one runs on."),
  });

  expect(statSync(place()).ino).not.toBe(old);
  expect([isAlive(supervisor), net.pid("a")]).toEqual([true, agent]);
  if (process.platform === "linux")
    expect(readlinkSync(`/proc/${supervisor}/exe`)).toBe(`${place()} (deleted)`);
  const list = JSON.parse((await run(["ls", "--json"])).stdout);
  expect(list).toMatchObject({ supervisor: { pid: supervisor }, agents: [{ state: "running", pid: agent }] });
  // The supervisor of the old file still starts what dies.
  process.kill(agent, "SIGKILL");
  await net.running("a", agent);
  expect((await run(["down"])).code).toBe(0);
  process.kill(supervisor, "SIGTERM");
  await until("the supervisor to end", () => !isAlive(supervisor));
});
