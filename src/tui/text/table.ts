/** Tables for lists: columns that give way when the terminal is narrow, and a cursor. */
import { type Align, cut, type Line, line, pad, type Span, span, type Tone, textWidth } from "./line.ts";

export interface TableColumn<Row> {
  readonly title: string;
  /** Columns of the screen, at least. */
  readonly width: number;
  readonly align?: Align;
  /** Takes the room that is left, in proportion. */
  readonly grows?: number;
  /** The higher, the earlier it is left out when there is no room; 0 and none: never. */
  readonly givesWay?: number;
  /** Sorted by this: ▴ or ▾ beside the title. */
  readonly sorted?: "up" | "down";
  cell(row: Row): Span | readonly Span[] | string;
}

export interface LaidOut<Row> {
  readonly column: TableColumn<Row>;
  readonly width: number;
}

const gap = 2;
/** Before the first column: where the cursor is. */
const gutter = 2;

/** Which columns fit into `width`, and how wide each is. */
export function layOut<Row>(columns: readonly TableColumn<Row>[], whole: number): LaidOut<Row>[] {
  const width = whole - gutter;
  let kept = [...columns];
  const needed = () => kept.reduce((sum, column) => sum + column.width, 0) + gap * (kept.length - 1);
  while (needed() > width) {
    const first = kept.reduce<TableColumn<Row> | undefined>(
      (worst, column) => ((column.givesWay ?? 0) > (worst?.givesWay ?? 0) ? column : worst),
      undefined,
    );
    if (!first) break;
    kept = kept.filter((column) => column !== first);
  }
  const spare = Math.max(0, width - needed());
  const growth = kept.reduce((sum, column) => sum + (column.grows ?? 0), 0);
  let given = 0;
  const growing = kept.filter((column) => column.grows);
  return kept.map((column) => {
    if (!column.grows || growth === 0) return { column, width: column.width };
    const share = column === growing.at(-1) ? spare - given : Math.floor((spare * column.grows) / growth);
    given += share;
    return { column, width: column.width + share };
  });
}

export function headerLine<Row>(laidOut: readonly LaidOut<Row>[]): Line {
  const titles = joined(
    laidOut.map(({ column, width }) => {
      const sign = column.sorted === "up" ? "▴" : column.sorted === "down" ? "▾" : "";
      const text = pad(cut(column.title + sign, width), width, column.align);
      return [span(text, column.sorted ? "strong" : "muted")];
    }),
  );
  return line(" ".repeat(gutter), ...titles.spans);
}

export function rowLine<Row>(laidOut: readonly LaidOut<Row>[], row: Row, selected: boolean): Line {
  const cells = laidOut.map(({ column, width }) => {
    const cell = column.cell(row);
    const spans = typeof cell === "string" ? [span(cell)] : "text" in cell ? [cell] : cell;
    return fitSpans(spans, width, column.align ?? "left");
  });
  const spans = [span(selected ? "▸ " : "  "), ...joined(cells).spans];
  return { spans: selected ? spans.map(({ text }) => span(text, "selected")) : spans };
}

function joined(cells: readonly (readonly Span[])[]): Line {
  return line(...cells.flatMap((spans, i) => (i === 0 ? spans : [span(" ".repeat(gap)), ...spans])));
}

function fitSpans(spans: readonly Span[], width: number, align: Align): Span[] {
  const shown: Span[] = [];
  let room = width;
  for (const { text, tone } of spans) {
    const short = cut(text, room);
    if (short === "") continue;
    shown.push({ text: short, tone });
    room -= textWidth(short);
  }
  const blanks: Span = { text: " ".repeat(Math.max(0, room)), tone: "plain" as Tone };
  return align === "left" ? [...shown, blanks] : [blanks, ...shown];
}
