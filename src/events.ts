/** What happened, as data: one event has one rendering for people and one for machines, both made here. */

export interface ConvoyEvent {
  /** ISO 8601, UTC, milliseconds. */
  readonly ts: string;
  readonly type: string;
  readonly identity?: string;
  readonly busId?: string;
  readonly session?: string;
  readonly [member: string]: unknown;
}
