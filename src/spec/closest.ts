/** "Did you mean": the known word nearest to an unknown one. */
import { distance, closest as nearest } from "fastest-levenshtein";

/** The choice that differs from `word` in few enough letters to be a slip of the hand, if any. */
export function closest(word: unknown, choices: readonly string[]): string | undefined {
  // Anything may stand where a word belongs, also objects that cannot be turned into text.
  if (typeof word !== "string" || choices.length === 0 || word.length > 100) return undefined;
  const fold = (text: string) => text.toLowerCase().replace(/[_\s-]/g, "");
  const same = choices.find((choice) => fold(choice) === fold(word));
  if (same !== undefined) return same;
  const begun = choices.filter((choice) => word.length >= 2 && fold(choice).startsWith(fold(word)));
  if (begun.length === 1) return begun[0];
  const best = nearest(word, choices as string[]);
  return distance(word, best) <= Math.ceil(word.length / 3) ? best : undefined;
}
