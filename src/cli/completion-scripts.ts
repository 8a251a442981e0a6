/** The scripts that teach a shell to complete convoy's command line; all they know is how to ask for it. */
import bash from "./completions/convoy.bash" with { type: "text" };
import fish from "./completions/convoy.fish" with { type: "text" };
import zsh from "./completions/convoy.zsh" with { type: "text" };

export const SHELLS = ["bash", "zsh", "fish"] as const;

export const COMPLETION_SCRIPTS: Readonly<Record<(typeof SHELLS)[number], string>> = { bash, zsh, fish };
