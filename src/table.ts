/** Columns of text, lined up by what a terminal shows: wide characters count two, colours none. */

/** `paint` colours the finished cell; its text is measured and cut without colour. */
export interface PaintedCell {
  readonly text: string;
  readonly paint: (text: string) => string;
}
export type Cell = string | PaintedCell;

export interface TableOptions {
  /** Columns of the terminal; the last column is cut to fit. Null: nothing is cut. */
  readonly width?: number | null;
  /** Spaces between columns. */
  readonly gap?: number;
  /** Spaces before each line. */
  readonly indent?: number;
  /** Columns (from 0) that are aligned to the right. */
  readonly right?: readonly number[];
}

const LEAST_CUT_COLUMNS = 8;

/** One line per row, without trailing spaces. Rows may have different lengths. */
export function formatTable(rows: readonly (readonly Cell[])[], options: TableOptions = {}): string[] {
  const { width = null, gap = 2, indent = 0, right = [] } = options;
  const lines = rows.map((row) => row.map(plainCell));
  const widths: number[] = [];
  for (const line of lines) {
    for (const [column, cell] of line.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, Bun.stringWidth(cell.text));
    }
  }
  const last = widths.length - 1;
  const lastStart = indent + widths.slice(0, last).reduce((sum, one) => sum + one + gap, 0);
  const room = width === null ? Infinity : Math.max(LEAST_CUT_COLUMNS, width - lastStart);
  return lines.map((line) => {
    const parts = line.map((cell, column) => {
      const text = column === last ? truncate(cell.text, room) : cell.text;
      const blank = " ".repeat(Math.max(0, widths[column]! - Bun.stringWidth(text)));
      if (right.includes(column)) return blank + cell.paint(text);
      return cell.paint(text) + (column === line.length - 1 ? "" : blank);
    });
    return (" ".repeat(indent) + parts.join(" ".repeat(gap))).trimEnd();
  });
}

function plainCell(cell: Cell): PaintedCell {
  const { text, paint } = typeof cell === "string" ? { text: cell, paint: (plain: string) => plain } : cell;
  return { text: oneLine(text), paint };
}

/** Text of others made safe for a terminal: line breaks and tabs become spaces, other control characters `?`. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\t\r\n]+/g, " ").replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, "?");
}

/** At most `columns` wide, ending in `…` when something was cut. Never cuts a character in two. */
export function truncate(text: string, columns: number): string {
  if (Bun.stringWidth(text) <= columns) return text;
  let kept = "";
  let used = 1;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += Bun.stringWidth(segment);
    if (used > columns) break;
    kept += segment;
  }
  return `${kept}…`;
}
