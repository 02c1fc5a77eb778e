/** Making results: scopes, verdicts, and the evidence that goes with them. */
import type { ExecResult } from "../../remote/remote.ts";
import type { ResolvedJob } from "../../spec/definitions.ts";
import type { Look } from "../../store/checklist/look.ts";
import type { Trial } from "../../store/checklist/undone.ts";
import type { CheckContext, HostProbe } from "../context.ts";
import type { Evidence, Result, Scope, Verdict } from "../item.ts";

const mostOutput = 4_000;
const mostRows = 100;

export function clusterScope(context: CheckContext): Scope {
  return { kind: "cluster", name: context.definitions.cluster?.definition.name ?? "cluster" };
}

export function hostScope(host: Pick<HostProbe, "name">): Scope {
  return { kind: "host", name: host.name };
}

/** `namespace/name`. */
export function jobName(job: { readonly namespace: string; readonly name: string }): string {
  return `${job.namespace}/${job.name}`;
}

export function jobScope(job: ResolvedJob): Scope {
  return { kind: "job", name: jobName(job.definition) };
}

export function jobLocation(job: ResolvedJob): NonNullable<Result["location"]> {
  return { file: job.file, ...(job.line > 0 && { line: job.line }) };
}

export type Extra = Pick<Result, "todo" | "location">;

export function result(
  scope: Scope,
  verdict: Verdict,
  message: string,
  evidence: readonly Evidence[],
  extra: Extra = {},
): Result {
  return { scope, verdict, message, evidence, ...extra };
}

/** How an item answers about one job: all that changes from answer to answer, in place of {@link result}. */
export function answersAbout(job: ResolvedJob) {
  const [scope, location] = [jobScope(job), jobLocation(job)];
  return (verdict: Verdict, message: string, evidence: readonly Evidence[], todo?: string): Result =>
    result(scope, verdict, message, evidence, { location, ...(todo !== undefined && { todo }) });
}

export function queryEvidence(
  context: CheckContext,
  looked: Look<unknown>,
  rows: readonly unknown[] = looked.rows,
): Evidence {
  const shown = rows.slice(0, mostRows).map((row) => JSON.stringify(row));
  const rest = rows.length - shown.length;
  const lines = [...shown, ...(rest > 0 ? [`… and ${rest} more`] : [])];
  return {
    kind: "query",
    what: cut(looked.what),
    output: cut(lines.length === 0 ? "no rows" : lines.join("\n")),
    at: context.at(),
  };
}

export function trialEvidence(context: CheckContext, trial: Trial<unknown>): Evidence {
  return {
    kind: "query",
    what: cut(trial.what),
    output: cut(`rolled back: ${JSON.stringify(trial.found)}`),
    at: context.at(),
  };
}

export function commandEvidence(
  context: CheckContext,
  host: HostProbe,
  argv: readonly string[],
  said: Pick<ExecResult, "exitCode" | "stdout" | "stderr">,
): Evidence {
  const status = said.exitCode === 0 ? "" : `\nexit ${said.exitCode}`;
  return {
    kind: "command",
    what: cut(argv.join(" ")),
    output: cut(`${said.stdout}${said.stderr}`.trimEnd() + status || "(nothing)"),
    host: host.name,
    at: context.at(),
  };
}

export function fileEvidence(context: CheckContext, file: string, output: string): Evidence {
  return { kind: "file", what: file, output: cut(output), at: context.at() };
}

export function computed(context: CheckContext, what: string, output: string): Evidence {
  return { kind: "computed", what, output: cut(output), at: context.at() };
}

export function cut(text: string): string {
  return text.length <= mostOutput ? text : `${text.slice(0, mostOutput - 2)} …`;
}
