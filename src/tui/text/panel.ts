/** Boxes with a title in their upper edge, and boxes beside each other. */
import { fitLine, type Line, line, lineWidth, span, type Tone } from "./line.ts";

export interface PanelOptions {
  readonly title: string;
  /** In the upper edge, at the right. */
  readonly note?: Line;
  readonly width: number;
  /** With its two edges. */
  readonly height: number;
  /** The panel that the keys move in. */
  readonly focused?: boolean;
}

/** A box of exactly `height` lines and `width` columns. Lines that do not fit are left out. */
export function panel({ title, note, width, height, focused }: PanelOptions, lines: readonly Line[]): Line[] {
  const inner = Math.max(0, width - 4);
  const edge: Tone = focused ? "key" : "muted";
  const head = line(span(" "), span(title, "title"), span(" "));
  const tail = note ? line(span(" "), ...note.spans, span(" ")) : line();
  const room = width - 4;
  const shownTail = lineWidth(head) + lineWidth(tail) + 1 <= room ? tail : line();
  const dashes = Math.max(0, room - Math.min(lineWidth(head), room) - lineWidth(shownTail));
  const top = fitLine(
    line(
      span("╭─", edge),
      ...fitLine(head, Math.min(lineWidth(head), room)).spans,
      span("─".repeat(dashes), edge),
      ...shownTail.spans,
      span("─╮", edge),
    ),
    width,
  );
  const body = Array.from({ length: Math.max(0, height - 2) }, (_, i): Line => {
    const one = fitLine(lines[i] ?? line(), inner);
    return line(span("│ ", edge), ...one.spans, span(" │", edge));
  });
  const bottom = line(span(`╰${"─".repeat(Math.max(0, width - 2))}╯`, edge));
  return [top, ...body, bottom].slice(0, height);
}

/** Blocks side by side; each must have the same number of lines. */
export function beside(...blocks: readonly (readonly Line[])[]): Line[] {
  const height = Math.max(...blocks.map((block) => block.length));
  return Array.from({ length: height }, (_, i) => line(...blocks.flatMap((block) => block[i]?.spans ?? [])));
}

/** `label` in a column of its own, then the value: for cards. */
export function field(label: string, value: Line | string, labelWidth: number): Line {
  const shown = typeof value === "string" ? line(value) : value;
  return line(span(`${label.padEnd(labelWidth)} `, "muted"), ...shown.spans);
}

/** Widths that share `total` as the weights say. */
export function shares(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((a, b) => a + b, 0);
  let used = 0;
  return weights.map((weight, i) => {
    const width = i === weights.length - 1 ? total - used : Math.floor((total * weight) / sum);
    used += width;
    return width;
  });
}
