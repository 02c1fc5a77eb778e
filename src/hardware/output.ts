/** What a command printed, and whether its end is known to be there. */

export interface Output {
  readonly text: string;
  /**
   * true only where something outside the text proves it, such as the frame of
   * the gather script. Conclusions from what is *not* in a text need it.
   */
  readonly isWhole: boolean;
}

/** Why a list out of a text of rows is not known, where its end is not proven. */
export const mayBeCut = "nothing proves that this output was not cut short";

/** The lines of a text. The last one counts only with its line end, because half a line can read as a better value. */
export function linesOf(output: Output): string[] {
  const lines = output.text.replaceAll("\0", "").split(/\r\n|\r|\n/);
  const last = lines.pop();
  if (output.isWhole && last) lines.push(last);
  return lines;
}

/** Whether two lines in a file differ only by what may be removed: a name and a value around the first separator. */
export function keyAndValue(line: string, separator: string): [key: string, value: string] | undefined {
  const at = line.indexOf(separator);
  if (at <= 0) return undefined;
  return [line.slice(0, at).trim(), line.slice(at + separator.length).trim()];
}

/** `NAME=value` lines, values unquoted; the first of a name counts. */
export function assignments(output: Output): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of linesOf(output)) {
    const match = /^\s*([A-Za-z_][\w.]*)=(.*)$/.exec(line);
    if (match && !found.has(match[1]!))
      found.set(match[1]!, match[2]!.trim().replace(/^(["'])(.*)\1$/, "$2"));
  }
  return found;
}

/** `Name: value` lines, however far indented; a name that comes twice with two values is left out as contradictory. */
export function labels(output: Output): Map<string, string> {
  const found = new Map<string, string>();
  const contradictory = new Set<string>();
  for (const line of linesOf(output)) {
    const pair = keyAndValue(line, ":");
    if (!pair) continue;
    const [key, value] = pair;
    if (found.has(key) && found.get(key) !== value) contradictory.add(key);
    found.set(key, value);
  }
  for (const key of contradictory) found.delete(key);
  return found;
}
