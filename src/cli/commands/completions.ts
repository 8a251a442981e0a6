import { defineConvoyCommand } from "../command.ts";
import { COMPLETION_SCRIPTS, SHELLS } from "../completion-scripts.ts";

export default defineConvoyCommand({
  args: {
    shell: { type: "positional", required: true, options: SHELLS, description: "bash, zsh or fish" },
  },
  examples: [
    { line: 'eval "$(convoy completions bash)"', what: "in ~/.bashrc" },
    { line: 'eval "$(convoy completions zsh)"', what: "in ~/.zshrc, behind compinit" },
    { line: "convoy completions fish >~/.config/fish/completions/convoy.fish", what: "once" },
  ],
  details: [
    "The script asks the convoy that is on the PATH at each Tab: it need not be made again after an upgrade.",
    "Commands, flags and fixed values are offered, agents and networks as they are now, and names of files.",
  ],
  run({ args, output }) {
    output.raw(COMPLETION_SCRIPTS[args.shell]);
    return 0;
  },
});
