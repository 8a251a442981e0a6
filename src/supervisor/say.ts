/** Events with the time they are said at. */
import type { EventBody } from "../events.ts";
import type { PassPorts } from "./ports.ts";

export type Say = (event: EventBody) => void;

/** Stamps an event with the time it is said. */
export function sayer(ports: Pick<PassPorts, "events" | "clock">): Say {
  return (event) => ports.events.emit({ ts: ports.clock.now().toISOString(), ...event });
}
