/** What became of one resource when its desired state was held against what the host said. */
import type { Reading, Unknown } from "../bundle/reading.ts";
import type { Resource } from "../resource.ts";
import type { Step } from "./step.ts";

export interface Judged {
  readonly state: "ok" | "diff" | "missing" | "unknown";
  /** One line each, for people: `mode 0644 → 0600`. Why, where the state is unknown. */
  readonly lines: readonly string[];
  /** Unified diff of a text that is no secret. */
  readonly diff?: string;
  readonly steps: readonly Step[];
  /** It is right on disk and will be in effect after the next boot. */
  readonly needsReboot?: boolean;
  /** Why the plan cannot foresee it exactly. */
  readonly notPreviewable?: string;
}

export interface JudgeContext {
  readonly reading: Reading;
  /** Texts that several resources edit, as far as the ones before have got. */
  readonly drafts: Map<string, string>;
  /** The package that this plan installs and on which the resource depends, if any. */
  installing(resource: Resource): string | undefined;
  /** True where a file of this plan brings the unit. */
  bringsUnit(unit: string): boolean;
}

export const fine: Judged = { state: "ok", lines: [], steps: [] };

export function cannotTell(fact: Unknown | string): Judged {
  return { state: "unknown", lines: [typeof fact === "string" ? fact : fact.unknown], steps: [] };
}
