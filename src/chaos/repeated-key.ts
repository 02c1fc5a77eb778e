/**
 * A key that stands twice in one object of a JSON text. `JSON.parse` takes the last of them and says
 * nothing, so two readers of the same file may read two different things.
 */

/** Strings and the brackets; whatever else is there has been parsed before. */
const token = /"(?:[^"\\]|\\.)*"|[{}[\]:,]/gs;

/**
 * @param text JSON that `JSON.parse` has accepted
 * @returns the first key that is repeated; undefined: none is
 */
export function repeatedKey(text: string): string | undefined {
  // One set for each open object, null for each open list.
  const open: (Set<string> | null)[] = [];
  let last = "";
  for (const [word] of text.matchAll(token)) {
    if (word === "{") open.push(new Set());
    else if (word === "[") open.push(null);
    else if (word === "}" || word === "]") open.pop();
    else if (word === ":") {
      const key = JSON.parse(last) as string;
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
    last = word;
  }
  return undefined;
}
