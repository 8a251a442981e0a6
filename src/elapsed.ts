/** Spans of time for a person. */

const UNITS = [
  ["d", 86_400, "h", 3_600],
  ["h", 3_600, "m", 60],
  ["m", 60, "s", 1],
] as const;

/** The two largest units: `5s`, `2m05s`, `3h07m`, `12d4h`. A clock that was set back gives `0s`. */
export function formatElapsed(elapsedMs: number): string {
  const seconds = Math.max(0, Math.floor(elapsedMs / 1_000));
  for (const [large, largeSeconds, small, smallSeconds] of UNITS) {
    if (seconds < largeSeconds) continue;
    const rest = Math.floor((seconds % largeSeconds) / smallSeconds);
    return `${Math.floor(seconds / largeSeconds)}${large}${small === "h" ? rest : String(rest).padStart(2, "0")}${small}`;
  }
  return `${seconds}s`;
}
