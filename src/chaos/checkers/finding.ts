/** The classes of violation, and one violation. */

/** Every class, in the order of reports, with the sentence that explains it. */
export const findingClasses = {
  lost: "a due fire has no effect, and no record says why",
  partial: "some shards of a fire have their effect and some have not",
  duplicate: "an effect was applied more than once",
  unexpected: "something ran that nothing obliged",
  stale: "an effect was accepted from an older claim after a newer one",
  orphan: "an effect and the records contradict each other",
  overlap: "two attempts of one shard were alive together, or shared a token",
  early: "an attempt started before its fire time",
  late: "a fire started too late and is not marked as a misfire",
  interrupted: "work was left unfinished after the cluster came to rest",
  "misfire-mishandled": "the outcome contradicts the declared misfire policy",
} as const;

export type FindingClass = keyof typeof findingClasses;

export interface Finding {
  readonly class: FindingClass;
  readonly job: string;
  readonly fireTime: string;
  /** Absent when the whole fire is meant. */
  readonly shardNo?: number;
  readonly detail: string;
}

/** Takes a finding; checkers call it as often as they find something. */
export type Report = (finding: Finding) => void;
