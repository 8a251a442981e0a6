import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  agentEnvironment,
  BARE_PATH,
  baseEnvironment,
  isScrubbed,
  type Login,
  lookupPath,
  SCRUBBED,
} from "./environment.ts";

const LOGIN: Login = { home: "/home/me", user: "me", shell: "/bin/sh", path: BARE_PATH, lang: "C.UTF-8" };
const BARE = {
  HOME: "/home/me",
  PATH: BARE_PATH,
  SHELL: "/bin/sh",
  USER: "me",
  LOGNAME: "me",
  LANG: "C.UTF-8",
};
const SPEC = {
  name: "box.a",
  agent: "box.a",
  env: { ST_ROOT: "/n/smalltalk", CONVOY_NETWORK: "/n", PTY_ROOT: "/n/pty", MINE: "declared" },
};

describe("baseEnvironment, by how convoy was started", () => {
  test("with nothing at all", () => {
    expect(baseEnvironment({}, LOGIN)).toEqual(BARE);
  });

  test("env -i with HOME and PATH", () => {
    expect(baseEnvironment({ HOME: "/h", PATH: "/usr/bin:/bin" }, LOGIN)).toEqual({
      ...BARE,
      HOME: "/h",
      PATH: "/usr/bin:/bin",
    });
  });

  test("a login shell in tmux", () => {
    const shell = {
      HOME: "/h",
      PATH: "/p",
      SHELL: "/bin/zsh",
      USER: "u",
      LOGNAME: "l",
      LC_ALL: "de_DE.UTF-8",
    };
    const tmux = {
      TMUX: "x",
      TMUX_PANE: "%1",
      TERM: "tmux-256color",
      TERM_PROGRAM: "tmux",
      COLUMNS: "10",
      LINES: "5",
      PWD: "/x",
      OLDPWD: "/y",
      SHLVL: "3",
      _: "/usr/bin/convoy",
      NO_COLOR: "1",
      SSH_TTY: "/dev/pts/1",
    };
    expect(baseEnvironment({ ...shell, ...tmux }, LOGIN)).toEqual(shell);
  });

  test("inside an agent's session: no nesting, no foreign identity, credentials stay", () => {
    const kept = {
      ANTHROPIC_API_KEY: "k",
      OPENAI_API_KEY: "k",
      CLAUDE_CODE_OAUTH_TOKEN: "t",
      CLAUDE_CONFIG_DIR: "/c",
      CODEX_HOME: "/x",
      SSH_AUTH_SOCK: "/s",
      XDG_STATE_HOME: "/st",
    };
    const foreign = {
      CLAUDECODE: "1",
      CLAUDE_CODE_ENTRYPOINT: "cli",
      CLAUDE_CODE_SSE_PORT: "1",
      ST_AGENT: "other",
      ST_ROOT: "/other",
      PTY_SESSION: "x",
      PTY_ROOT: "/x",
      PTY_SESSION_DIR: "/x",
      CONVOY_NETWORK: "/other",
      BUN_OPTIONS: "--smol",
      STY: "1",
    };
    expect(baseEnvironment({ ...kept, ...foreign, UNSET: undefined }, LOGIN)).toEqual({ ...BARE, ...kept });
  });

  test("a locale of any kind is left alone", () => {
    expect(baseEnvironment({ LC_CTYPE: "en_GB.UTF-8" }, LOGIN).LANG).toBeUndefined();
    expect(baseEnvironment({ LANG: "fr_FR.UTF-8" }, LOGIN).LANG).toBe("fr_FR.UTF-8");
  });
});

describe("agentEnvironment", () => {
  test("wiring over declared over base; a terminal; its own identity", () => {
    const base = { HOME: "/h", PATH: "/p", MINE: "inherited" };
    expect(agentEnvironment(base, SPEC)).toEqual({
      HOME: "/h",
      PATH: "/p",
      ...SPEC.env,
      TERM: "xterm-256color",
      PTY_SESSION: "box.a",
      ST_AGENT: "box.a",
    });
  });

  test("what is scrubbed when inherited may be declared", () => {
    const env = { TERM: "vt100", NO_COLOR: "1", PTY_SESSION: "x", ST_AGENT: "x" };
    expect(agentEnvironment({}, { ...SPEC, env })).toEqual({
      TERM: "vt100",
      NO_COLOR: "1",
      PTY_SESSION: "box.a",
      ST_AGENT: "box.a",
    });
  });

  test("a respawn from another shell is the same launch", () => {
    const base = baseEnvironment({ HOME: "/h", PATH: "/p", TMUX: "x" }, LOGIN);
    expect(agentEnvironment(base, SPEC)).toEqual(agentEnvironment({ ...base }, SPEC));
  });
});

test("lookupPath: the environment's own, else a bare system's", () => {
  expect(lookupPath({ PATH: "/p:/q" })).toBe("/p:/q");
  expect(lookupPath({ PATH: "" })).toBe(BARE_PATH);
  expect(lookupPath({})).toBe(BARE_PATH);
});

const listed = SCRUBBED.flatMap((rule) => rule.names);
const scrubbedName = fc
  .tuple(fc.constantFrom(...listed), fc.stringMatching(/^[A-Z_]{0,6}$/))
  .map(([name, rest]) => (name.endsWith("*") ? `${name.slice(0, -1)}${rest}` : name));
const environment = fc.dictionary(
  fc.oneof(scrubbedName, fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/)),
  fc.string(),
);

test("no scrubbed name survives from what was inherited, and nothing else is lost", () => {
  fc.assert(
    fc.property(environment, (inherited) => {
      const base = baseEnvironment(inherited, LOGIN);
      expect(Object.keys(base).filter(isScrubbed)).toEqual([]);
      for (const [name, value] of Object.entries(inherited)) {
        if (!isScrubbed(name) && value !== "") expect(base[name]).toBe(value);
      }
      expect(baseEnvironment(base, LOGIN)).toEqual(base);
    }),
  );
});

test("wiring always wins, whatever was inherited", () => {
  fc.assert(
    fc.property(environment, (inherited) => {
      const found = agentEnvironment(baseEnvironment(inherited, LOGIN), SPEC);
      expect(found).toMatchObject({ ...SPEC.env, PTY_SESSION: "box.a", ST_AGENT: "box.a" });
      expect(
        Object.keys(found)
          .filter((name) => isScrubbed(name) && !(name in SPEC.env))
          .sort(),
      ).toEqual(["PTY_SESSION", "ST_AGENT", "TERM"]);
    }),
  );
});
