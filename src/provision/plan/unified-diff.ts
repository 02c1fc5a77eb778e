/** A unified diff of two texts, as `diff -u` prints it, with three lines of context. */

type Edit = readonly [sign: " " | "-" | "+", line: string];
const contextLines = 3;
/** Above this product of lines the middle is shown as replaced whole. */
const maxCells = 4_000_000;

export function unifiedDiff(before: string, after: string, path: string): string {
  const edits = editsOf(linesOf(before), linesOf(after));
  const out = [`--- ${before === "" ? "/dev/null" : path}`, `+++ ${after === "" ? "/dev/null" : path}`];
  let oldLine = 1;
  let newLine = 1;
  let at = 0;
  while (at < edits.length) {
    if (edits[at]![0] === " ") {
      oldLine++;
      newLine++;
      at++;
      continue;
    }
    const lead = Math.min(contextLines, at);
    const begin = at - lead;
    let end = at;
    for (let quiet = 0; end < edits.length && quiet <= 2 * contextLines; end++)
      quiet = edits[end]![0] === " " ? quiet + 1 : 0;
    while (end > at && trailing(edits, end) > contextLines) end--;
    const hunk = edits.slice(begin, end);
    const olds = hunk.filter(([sign]) => sign !== "+").length;
    const news = hunk.filter(([sign]) => sign !== "-").length;
    out.push(`@@ -${range(oldLine - lead, olds)} +${range(newLine - lead, news)} @@`);
    out.push(...hunk.map(([sign, line]) => sign + line));
    oldLine += olds - lead;
    newLine += news - lead;
    at = end;
  }
  return out.length === 2 ? "" : out.join("\n");
}

function trailing(edits: readonly Edit[], end: number): number {
  let count = 0;
  while (count < end && edits[end - 1 - count]![0] === " ") count++;
  return count;
}

function range(line: number, count: number): string {
  return count === 0 ? `${line - 1},0` : count === 1 ? String(line) : `${line},${count}`;
}

/** A text without its last line end is marked as diff does. */
function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  else lines.push("\\ No newline at end of file");
  return lines;
}

function editsOf(a: readonly string[], b: readonly string[]): Edit[] {
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const same = (line: string): Edit => [" ", line];
  return [
    ...a.slice(0, head).map(same),
    ...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)),
    ...a.slice(a.length - tail).map(same),
  ];
}

/** The longest common subsequence, by the table. */
function middle(a: readonly string[], b: readonly string[]): Edit[] {
  const width = b.length + 1;
  if (a.length * b.length > maxCells)
    return [...a.map((line): Edit => ["-", line]), ...b.map((line): Edit => ["+", line])];
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const edits: Edit[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      edits.push([" ", a[i]!]);
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      edits.push(["-", a[i++]!]);
    else edits.push(["+", b[j++]!]);
  }
  return edits;
}
