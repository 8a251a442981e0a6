/** One object in three spellings, for the tests of the decoders. */

export const TOML = `# a comment
identity = "fabric"
role = "worker"
env.A = "1"
render = { file = [
  { dest = "a", from = "b" },
  { dest = "c", from = "d" },
] }

[pty.agent]
command = """
x
"""

[pty.web]
command = "y"
[pty.web.tags]
k = "v"
`;

export const KDL = `// a comment
identity "fabric"
role "worker"
env { A "1"; }
render {
  file dest="a" from="b"
  file dest="c" from="d"
}

pty "agent" {
  command """
  x

  """
}
pty "web" {
  command "y"
  tags k="v"
}
`;

export const JSON_TEXT = `{
  "identity": "fabric",
  "role": "worker",
  "env": { "A": "1" },
  "render": { "file": [
    { "dest": "a", "from": "b" },
    { "dest": "c", "from": "d" }
  ] },
  "pty": {
    "agent": { "command": "x\\n" },
    "web": {
      "command": "y",
      "tags": { "k": "v" }
    }
  }
}
`;

export const OBJECT = {
  identity: "fabric",
  role: "worker",
  env: { A: "1" },
  render: {
    file: [
      { dest: "a", from: "b" },
      { dest: "c", from: "d" },
    ],
  },
  pty: { agent: { command: "x\n" }, web: { command: "y", tags: { k: "v" } } },
};
