import { planDocument, wouldAct } from "../../plan-document.ts";
import { trustRequests } from "../../supervisor/trust-batch.ts";
import { defineConvoyCommand, JSON_FLAG, NETWORK_ARGUMENT } from "../command.ts";
import { lookAt } from "../look.ts";
import { printPlan, printTrust } from "../plan-output.ts";

const WOULD_ACT = 2;

export default defineConvoyCommand({
  args: {
    network: NETWORK_ARGUMENT,
    "detailed-exitcode": {
      type: "boolean",
      description: "exit 2 when a pass would start, end or heal a session, or write trust",
    },
    json: JSON_FLAG,
  },
  examples: [
    { line: "convoy plan", what: "what the next pass would do, a line per agent" },
    { line: "convoy plan --json | jq .launch", what: "the identities it would launch" },
  ],
  async run(context) {
    const { world, decision, settings, ports } = await lookAt(context);
    const document = planDocument(world, decision);
    const requests = trustRequests(world, settings, ports.facts);
    const files = await ports.trust.pretrust(requests, { dryRun: true });
    if (context.json) context.output.document(document);
    else {
      printPlan(document, context.output);
      printTrust(files, context.output);
    }
    if (!context.args["detailed-exitcode"]) return 0;
    return wouldAct(decision) || files.some((file) => file.written) ? WOULD_ACT : 0;
  },
});
