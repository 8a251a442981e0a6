import { defineConvoyCommand, JSON_FLAG } from "../command.ts";

export default defineConvoyCommand({
  args: {
    what: {
      type: "positional",
      options: ["survive"],
      description: "survive: show on a throw-away network that agents outlive their supervisor",
    },
    json: JSON_FLAG,
  },
  examples: [
    { line: "convoy doctor", what: "whether this machine and the default network are in order" },
    { line: "convoy doctor --network work --json", what: "the same of another network, for machines" },
    {
      line: "convoy doctor survive",
      what: "stop and kill a supervisor in every way, and look whether its agents live",
    },
  ],
  details: [
    "Each check passes, fails, or could not tell; with each failure stands its fix. It changes nothing, and names",
    "credentials, never their values. Exits with 1 when a check fails, with 0 otherwise.",
    "`survive` works in a folder of its own in $TMPDIR or /tmp, and removes it; your networks are not touched. Where",
    "systemd's user manager answers, it installs a service for that folder too, restarts it, stops it, and removes it.",
  ],
  async run(context) {
    if (context.args.what === "survive") {
      const { runSurvive } = await import("../survive.ts");
      return await runSurvive(context);
    }
    const { runDoctor } = await import("../doctor.ts");
    return await runDoctor(context);
  },
});
