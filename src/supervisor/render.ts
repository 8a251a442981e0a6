/** What is rendered before an agent's launch; a running agent's files stay as they are until its next one. */
import { dirname, join } from "node:path";
import { messageOf } from "../errors.ts";
import { workspaceOf } from "../launch-spec.ts";
import type { RenderReport } from "../render.ts";
import type { LaunchAction } from "../world.ts";
import { isUnder } from "./observe.ts";
import type { PassPorts, PassSettings } from "./ports.ts";
import type { Say } from "./say.ts";

/** Best effort, as trust is: a problem is said, and the agents start. */
export function renderAll(
  ports: Pick<PassPorts, "facts" | "render">,
  settings: PassSettings,
  launches: readonly LaunchAction[],
  say: Say,
): void {
  for (const { spec, declaration, identity, busId } of launches) {
    const { file, dir } = declaration.declaration.render;
    if (!spec.main || file.length + dir.length === 0) continue;
    const workspace = workspaceOf(declaration.declaration, {
      network: settings.network.root,
      host: settings.host,
      home: settings.home,
    });
    const about = { identity, busId, session: spec.name };
    const { written, problems } = renderOne(ports, settings, declaration, workspace);
    if (written.length > 0) say({ type: "render", ...about, workspace, files: written });
    for (const problem of problems)
      say({ type: "warning", ...about, message: `${spec.name} is not rendered as declared: ${problem}` });
  }
}

/** The workspace may be still to come where the agent itself runs elsewhere. */
function renderOne(
  { facts, render }: Pick<PassPorts, "facts" | "render">,
  { network, home }: PassSettings,
  { path, declaration }: LaunchAction["declaration"],
  workspace: string,
): RenderReport {
  if (!facts.isDirectory(workspace)) {
    if (!isUnder(workspace, network.worktrees))
      return { written: [], problems: [`workspace ${workspace} is not there`] };
    try {
      facts.createWorkspace(workspace);
    } catch (error) {
      return {
        written: [],
        problems: [`workspace ${workspace} cannot be created: ${messageOf(error)}`],
      };
    }
  }
  const base = join(network.catalog, dirname(path));
  return render.render({ render: declaration.render, base, home, workspace });
}
