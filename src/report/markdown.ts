/** Pieces of Markdown, safe for any text. */

/** A table; pipes and line ends in cells do not break it. */
export function markdownTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  numeric: readonly number[] = [],
): string {
  const line = (cells: readonly string[]) => `| ${cells.map(markdownText).join(" | ")} |`;
  const rule = `| ${header.map((_, i) => (numeric.includes(i) ? "---:" : "---")).join(" | ")} |`;
  return [line(header), rule, ...rows.map(line)].join("\n");
}

/** Text that stays text: no markup, no line ends, no HTML. */
export function markdownText(text: string): string {
  return text
    .replace(/\r?\n/g, " ")
    .replaceAll("\\", "\\\\")
    .replace(/[|*_`[\]<>]/g, (sign) => `\\${sign}`);
}
