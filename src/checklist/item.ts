/**
 * One question of the checklist and its answer. Items look, they do not trust:
 * a verdict comes from what a probe saw, and a probe that could not look is
 * `unknown`, never a pass.
 */

export type Verdict = "pass" | "fail" | "unknown" | "not-applicable";

/** What a result is about. */
export interface Scope {
  readonly kind: "cluster" | "host" | "job";
  readonly name: string;
}

/** What counts as evidence for a time, each for its own. */
export type AgedFact = "drill" | "backup" | "restore" | "testAlert" | "archive" | "archiveRestore";

/** What somebody can look at to come to the same verdict. */
export interface Evidence {
  readonly kind: "query" | "command" | "file" | "drill" | "computed";
  /** The SQL text, command line, file path or drill run that was looked at. */
  readonly what: string;
  /** What it said, cut to at most 4,000 characters. */
  readonly output: string;
  readonly host?: string;
  /** By the database clock where there was one: RFC 3339, UTC, milliseconds. */
  readonly at: string;
  /** How old the fact itself is: of a drill, a backup, a test alert. */
  readonly ageMs?: number;
  /** What happened so long ago, where it counts for a time only: then the gate on a stored report asks for its age again. */
  readonly fact?: AgedFact;
}

/** One verdict of an item, on the whole cluster or on one host or job. */
export interface Result {
  readonly scope: Scope;
  readonly verdict: Verdict;
  /** One sentence. */
  readonly message: string;
  /** What to do about it, where the verdict is not a pass. */
  readonly todo?: string;
  readonly evidence: readonly Evidence[];
  /** The file of the definitions that this is about, relative to the repository. */
  readonly location?: { readonly file: string; readonly line?: number };
}

export type ItemNumber = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12 | 13 | 14;

export interface ChecklistItem<Context> {
  readonly number: ItemNumber;
  /** Kebab-case, stable: `unique-constraint`. */
  readonly id: string;
  readonly question: string;
  /** Why it matters, in two sentences at most. */
  readonly why: string;
  /** How it is checked, for people who want to follow the evidence. */
  readonly how: string;
  /** Results of every scope. None at all counts as unknown. May throw: that is unknown, too, with the message. */
  check(context: Context): Promise<readonly Result[]>;
}
