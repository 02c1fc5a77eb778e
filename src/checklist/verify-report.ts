/** Whether a report may be believed here and now: ours, of this cluster and commit, fresh, and as it was signed. */
import { formatDuration } from "../base/duration.ts";
import type { StoredReport } from "./read-report.ts";
import { signatureProblem } from "./signature.ts";

export interface Expected {
  /** PEM; without it nothing is said about who made the report. */
  readonly publicPem?: string;
  readonly clusterId?: string;
  /** The whole id, or at least its first seven digits. */
  readonly commit?: string;
  /** Believe a report of files that nobody could hold against the commit. */
  readonly uncheckedFiles?: boolean;
  readonly maxAgeMs?: number;
}

/** Clocks of two machines differ a little. */
const aheadMs = 300_000;

/** @returns why it is refused, one sentence each; empty when it may be believed */
export function refusals({ report, raw }: StoredReport, expected: Expected, now: Date): readonly string[] {
  const found: string[] = [];
  if (expected.publicPem !== undefined) {
    const problem = signatureProblem(raw, expected.publicPem);
    if (problem !== null) found.push(problem);
  }
  if (expected.clusterId !== undefined && report.cluster.id !== expected.clusterId)
    found.push(`it is about cluster ${report.cluster.id ?? "(unknown)"}, not ${expected.clusterId}`);
  if (expected.commit !== undefined) found.push(...commitProblems(report.commit, expected));
  const ageMs = now.getTime() - new Date(report.at).getTime();
  if (ageMs < -aheadMs) found.push(`it was made in the future: ${report.at}`);
  if (expected.maxAgeMs !== undefined && ageMs > expected.maxAgeMs)
    found.push(
      `it was made ${formatDuration(Math.round(ageMs / 1_000) * 1_000)} ago; at most ${formatDuration(expected.maxAgeMs)} is allowed`,
    );
  return found;
}

function commitProblems(
  { id, clean }: { readonly id: string | null; readonly clean: boolean | null },
  { commit = "", uncheckedFiles = false }: Expected,
): string[] {
  const wanted = commit.toLowerCase();
  if (id === null || !(wanted.length >= 7 && id.startsWith(wanted)))
    return [`it is about commit ${id ?? "(unknown)"}, not ${commit}`];
  if (clean === null)
    return uncheckedFiles
      ? []
      : [
          `nobody could tell whether its files were those of commit ${id}: it was made outside of the repository (--unchecked-files accepts that)`,
        ];
  return clean ? [] : [`the files were not those of commit ${id}: there were changes on top`];
}
