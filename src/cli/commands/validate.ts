import { defineConvoyCommand, JSON_FLAG, NETWORK_ARGUMENT } from "../command.ts";

export default defineConvoyCommand({
  args: { network: NETWORK_ARGUMENT, json: JSON_FLAG },
  examples: [
    { line: "convoy validate", what: "every error and warning in the catalog, with file and line" },
    { line: "convoy validate work --json | jq .problems", what: "the same as JSON" },
  ],
  details: ["Paths are relative to the catalog. It exits 1 when there is an error; warnings alone are 0."],
  async run(context) {
    const { runValidate } = await import("../validate.ts");
    return await runValidate(context);
  },
});
