/** Jobs of the files beside those of the store, for the items that answer job by job. */

import type { ResolvedJob } from "../../spec/definitions.ts";
import { canonicalJson } from "../../spec/digest.ts";
import { type AppliedJob, readAppliedJobs } from "../../store/checklist/applied-jobs.ts";
import type { Look } from "../../store/checklist/look.ts";
import type { CheckContext } from "../context.ts";
import type { Evidence, Result } from "../item.ts";
import { openStore } from "./parts.ts";
import {
  clusterScope,
  fileEvidence,
  jobLocation,
  jobName,
  jobScope,
  queryEvidence,
  result,
} from "./verdicts.ts";

/** Results for files that became no job because of one of these fields; and one when there is no job at all. */
export function unwritten(context: CheckContext, fields: readonly string[], todo: string): Result[] {
  const { jobs, problems = [] } = context.definitions;
  const found = problems
    .filter(({ path }) =>
      fields.some((field) => path === `spec.${field}` || path.startsWith(`spec.${field}.`)),
    )
    .map((problem) =>
      result(
        { kind: "job", name: problem.file },
        "fail",
        `${problem.path} ${problem.message}`,
        [fileEvidence(context, `${problem.file}:${problem.line}`, `${problem.path} ${problem.message}`)],
        { todo, location: { file: problem.file, ...(problem.line > 0 && { line: problem.line }) } },
      ),
    );
  const all = [...found, ...unreadable(context)];
  return jobs.length > 0 || all.length > 0 ? all : [noJobs(context)];
}

/** One for each file that is no readable document: what is in it, nobody can say. */
export function unreadable(context: CheckContext): Result[] {
  const { problems = [] } = context.definitions;
  const broken = problems.filter(({ path }) => path !== "spec" && !path.startsWith("spec."));
  const files = new Map(broken.map((problem) => [problem.file, problem]));
  return [...files.values()].map((problem) => {
    const { file, line, path, message } = problem;
    const said = `${path} ${message}`.trim();
    return result(
      { kind: "job", name: file },
      "unknown",
      `${file} is no readable job file: ${said}`,
      [fileEvidence(context, `${file}:${line}`, said)],
      { todo: "escapement jobs check", location: { file, ...(line > 0 && { line }) } },
    );
  });
}

export function noJobs(context: CheckContext): Result {
  return result(clusterScope(context), "unknown", "there is no job file to look at", [], {
    todo: "name the folder of the job files",
  });
}

export interface Pair {
  readonly job: ResolvedJob;
  readonly name: string;
  /** Undefined: the store has no such job. */
  readonly applied: AppliedJob | undefined;
  /** The row of this job alone. */
  readonly evidence: Evidence;
}

/** Every job that is asked about with its row in the store. @throws when the store cannot be asked */
export async function pairs(
  context: CheckContext,
): Promise<{ pairs: readonly Pair[]; looked: Look<AppliedJob> }> {
  const looked = await readAppliedJobs(openStore(context));
  const applied = new Map(looked.rows.map((row) => [row.job, row]));
  return {
    looked,
    pairs: context.definitions.jobs.map((job) => {
      const name = jobName(job.definition);
      const row = applied.get(name);
      return { job, name, applied: row, evidence: queryEvidence(context, looked, row ? [row] : []) };
    }),
  };
}

type PolicyField = "blocking" | "misfire" | "catchUp";

/** Whether the store goes by what the file says of one policy. */
export function policyInForce(context: CheckContext, pair: Pair, field: PolicyField): Result {
  const { job, applied, name } = pair;
  const written = job.definition[field];
  const evidence = [
    fileEvidence(context, `${job.file}:${job.line}`, `${field}: ${JSON.stringify(written)}`),
    pair.evidence,
  ];
  const location = jobLocation(job);
  const scope = jobScope(job);
  if (!applied) {
    return result(scope, "unknown", `${name} is in a file and not in the store`, evidence, {
      todo: "escapement jobs apply",
      location,
    });
  }
  if (canonicalJson(applied[field]) !== canonicalJson(written)) {
    const message = `the store goes by ${field} ${JSON.stringify(applied[field])}, the file says ${JSON.stringify(written)}`;
    return result(scope, "fail", message, evidence, { todo: "escapement jobs apply", location });
  }
  return result(
    scope,
    "pass",
    `${field} is ${JSON.stringify(written)}, in the file and in the store`,
    evidence,
    {
      location,
    },
  );
}
