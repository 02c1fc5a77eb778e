/** One file of the collection of real outputs, and what a person reads in it. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { OutputKind } from "../../src/hardware/kinds.ts";

export const corpus = fileURLToPath(new URL("../../../shared/corpus/", import.meta.url));
export const isThere = existsSync(corpus);
if (!isThere) console.warn("unknown: the outputs of real hardware are not here; their tests are skipped");

export const known = (value: unknown) => ({ known: value });

export interface CorpusCase {
  readonly file: string;
  readonly kind: OutputKind;
  readonly facts: unknown;
  /** Verdicts by check: bad (with severity), unknown, good; the worst where there are several. */
  readonly verdicts: Readonly<Record<string, string>>;
}
