/** Item 3: what happens when the last run is not over is decided, and decided for the whole cluster. */
import {
  type AppliedJob,
  readOverlaps,
  readStarted,
  startedEnough,
} from "../../store/checklist/applied-jobs.ts";
import { readFunctions } from "../../store/checklist/functions.ts";
import type { Look } from "../../store/checklist/look.ts";
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Result } from "../item.ts";
import { pairs, policyInForce, unwritten } from "./job-files.ts";
import { inParts, openStore } from "./parts.ts";
import { clusterScope, jobLocation, jobName, jobScope, queryEvidence, result } from "./verdicts.ts";

export const blockingPolicy: ChecklistItem<CheckContext> = {
  number: 3,
  id: "blocking-policy",
  question: "Is it written for every job what happens when a fire comes due while the last one runs?",
  why: "A default is a decision that nobody took. A policy that each machine keeps for itself lets two machines run the same job side by side.",
  how: "The policy of every job file is compared with the version that the store fires by; jobs of a drill timetable have no file, and must have theirs in the store. The functions that open executions must be those of the migrations, which decide under the job's row lock; and the records must hold no execution that began before the one ahead of it was over.",
  check: (context) =>
    inParts(context, {
      "what the files say": async () => unwritten(context, ["blocking"], "write spec.blocking into the job"),
      "the policies in the store": () => policies(context),
      "the functions that open executions": () => gate(context),
      "the executions of the window": () => overlaps(context),
    }),
};

async function policies(context: CheckContext): Promise<Result[]> {
  const found = await pairs(context);
  const results = found.pairs.map((pair) => policyInForce(context, pair, "blocking"));
  const { jobs, allJobs } = context.definitions;
  // With --job only some are looked at.
  if (jobs.length !== allJobs.length) return results;
  const written = new Set(allJobs.map(({ definition }) => jobName(definition)));
  const strangers = found.looked.rows.filter(({ job, state }) => state === "active" && !written.has(job));
  return [...results, ...strangers.flatMap((row) => withoutFile(context, row, found.looked))];
}

/** Jobs of drills never have a file: probes go with their drill, those of a timetable have what it gave them. */
function withoutFile(context: CheckContext, row: AppliedJob, looked: Look<AppliedJob>): Result[] {
  if (row.madeBy === "drill") return [];
  const { job, blocking } = row;
  const scope = { kind: "job", name: job } as const;
  const evidence = [queryEvidence(context, looked, [row])];
  if (row.madeBy !== "timetable")
    return [
      result(scope, "fail", `${job} fires, and no file says by which policy`, evidence, {
        todo: `keep its file beside the others, or: escapement jobs delete ${job}`,
      }),
    ];
  if (blocking?.policy === undefined)
    return [
      result(scope, "fail", `${job} was made of a timetable, and has no blocking policy`, evidence, {
        todo: "escapement drill schedule apply",
      }),
    ];
  const message = `blocking is ${JSON.stringify(blocking)} in the store, as the timetable of drills has it`;
  return [result(scope, "pass", message, evidence)];
}

const openers = ["open_due", "open_one", "unopen_overdue"];

async function gate(context: CheckContext): Promise<Result[]> {
  const looked = await readFunctions(openStore(context), openers);
  const evidence = [
    queryEvidence(
      context,
      looked,
      looked.rows.map(({ signature, md5, asMigrated }) => ({ signature, md5, asMigrated })),
    ),
  ];
  const scope = clusterScope(context);
  const gone = openers.filter((name) => !looked.rows.some((row) => row.name === name));
  const changed = looked.rows.filter((row) => !row.asMigrated).map(({ name }) => name);
  if (gone.length + changed.length > 0) {
    const message = `not as the migrations made them: ${[...gone, ...changed].join(", ")}`;
    return [result(scope, "fail", message, evidence, { todo: "escapement store status, then restore them" })];
  }
  const locks = looked.rows.find(({ name }) => name === "open_due")!.source;
  if (!/FROM escapement\.job j[^;]*FOR NO KEY UPDATE SKIP LOCKED/.test(locks))
    return [result(scope, "unknown", "open_due does not show its row lock", evidence)];
  return [
    result(scope, "pass", "executions are opened under the job's row lock, whoever opens them", evidence),
  ];
}

async function overlaps(context: CheckContext): Promise<Result[]> {
  const { from, to } = context.window;
  const db = openStore(context);
  const [looked, { pairs: known }] = [await readOverlaps(db, from, to), await pairs(context)];
  const begun = await readStarted(db, from, to);
  const { started } = begun.rows[0]!;
  const evidence = [queryEvidence(context, looked), queryEvidence(context, begun)];
  const results = known.flatMap(({ job, applied }) => {
    const row = looked.rows.find(({ jobId }) => jobId === applied?.jobId);
    if (!row) return [];
    const message = `${row.count} execution(s) began while another was not over, the first at ${row.fireTime.toISOString()}`;
    const todo = `escapement diagnose duplicates, then find who started it`;
    return [result(jobScope(job), "fail", message, evidence, { todo, location: jobLocation(job) })];
  });
  const scope = clusterScope(context);
  if (started === 0)
    return [
      result(scope, "unknown", "no execution has begun in the window: nothing shows what happens", evidence, {
        todo: "let a job fire once, then look again",
      }),
    ];
  return [
    result(
      scope,
      "pass",
      `${started < startedEnough ? started : `${startedEnough} or more`} execution(s) were held against each other`,
      evidence,
    ),
    ...results,
  ];
}
