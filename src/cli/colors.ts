/** The few colours in use. */
type Paint = (text: string) => string;

export type Colors = Readonly<Record<"red" | "green" | "yellow" | "cyan" | "dim" | "bold", Paint>>;

/** Paints that do nothing when `enabled` is false. */
export function createColors(enabled: boolean): Colors {
  const paint = (on: number, off: number): Paint =>
    enabled ? (text) => (text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`) : (text) => text;
  return {
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    cyan: paint(36, 39),
    dim: paint(2, 22),
    bold: paint(1, 22),
  };
}
