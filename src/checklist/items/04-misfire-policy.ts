/** Item 4: what happens to a missed fire is decided, and written where people look. */
import { readFile } from "node:fs/promises";
import { isAbsolute, join, normalize } from "node:path";
import { readMisfireCounts } from "../../store/checklist/applied-jobs.ts";
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Evidence, Result } from "../item.ts";
import { noJobs, type Pair, pairs, policyInForce, unwritten } from "./job-files.ts";
import { lateFires } from "./late-fires.ts";
import { inParts, openStore } from "./parts.ts";
import {
  clusterScope,
  computed,
  fileEvidence,
  jobLocation,
  jobName,
  jobScope,
  queryEvidence,
  result,
} from "./verdicts.ts";

export const misfirePolicy: ChecklistItem<CheckContext> = {
  number: 4,
  id: "misfire-policy",
  question:
    "Is it written for every job what happens to a fire that was missed, in the file and in a page for people?",
  why: "After a night without a scheduler somebody must know whether a late payout still runs. The engine does what its record says, not what a page says.",
  how: "The policy of every job file is compared with the version that the store fires by, with what the scheduler's own rule makes of a gap under it, and with what became of late fires. The page that the job names in spec.docs is read: its section must name the policy.",
  check: (context) =>
    inParts(context, {
      "what the files say": async () => unwritten(context, ["misfire"], "write spec.misfire into the job"),
      "the pages": () => pages(context),
      "the policies in the store": async () =>
        (await pairs(context)).pairs.map((pair) => policyInForce(context, pair, "misfire")),
      "a gap on trial": async () => (await pairs(context)).pairs.flatMap((pair) => gap(context, pair)),
      "late fires of the window": () => behaviour(context),
    }),
};

async function pages(context: CheckContext): Promise<Result[]> {
  const { jobs } = context.definitions;
  // Files that became no job are told of by the part above.
  if (jobs.length === 0) return (context.definitions.problems ?? []).length > 0 ? [] : [noJobs(context)];
  const read = new Map<string, Promise<string | null>>();
  const text = (path: string) => {
    const known = read.get(path) ?? readPage(context.definitions.root, path);
    read.set(path, known);
    return known;
  };
  return Promise.all(
    jobs.map(async (job) => {
      const scope = jobScope(job);
      const location = jobLocation(job);
      const { docs, misfire } = job.definition;
      const answer = (verdict: Result["verdict"], message: string, evidence: Evidence[], todo?: string) =>
        result(scope, verdict, message, evidence, { location, ...(todo !== undefined && { todo }) });
      if (docs === undefined) {
        const evidence = [fileEvidence(context, `${job.file}:${job.line}`, "docs is not written")];
        return answer(
          "fail",
          `${jobName(job.definition)} names no page`,
          evidence,
          "write spec.docs into the job",
        );
      }
      if (/^[a-z][a-z0-9+.-]*:/i.test(docs))
        return answer("unknown", `${docs} is outside of the repository`, [], "name a page of the repository");
      const [path, anchor] = docs.split("#", 2) as [string, string | undefined];
      const page = await text(path);
      if (page === null)
        return answer(
          "fail",
          `there is no page ${path}`,
          [fileEvidence(context, path, "no such file")],
          "write it",
        );
      const part = anchor ? sectionOf(page, anchor) : page;
      if (part === undefined)
        return answer(
          "fail",
          `${path} has no section #${anchor}`,
          [fileEvidence(context, path, "")],
          "write it",
        );
      const evidence = [fileEvidence(context, docs, linesAbout(part, misfire.policy))];
      if (new RegExp(`(?<![\\w-])${misfire.policy}(?![\\w-])`).test(part))
        return answer("pass", `${docs} names ${misfire.policy}`, evidence);
      return answer(
        "fail",
        `${docs} does not name ${misfire.policy}, which the job has`,
        evidence,
        "mend the page",
      );
    }),
  );
}

/** Null where there is no such file below the root. */
async function readPage(root: string, path: string): Promise<string | null> {
  const below = normalize(path);
  if (isAbsolute(below) || below.startsWith("..")) return null;
  try {
    return await readFile(join(root, below), "utf8");
  } catch (error) {
    if (["ENOENT", "EISDIR", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw error;
  }
}

/** From the heading of that name to the next one of its rank; names are made as the usual renderers make them. */
export function sectionOf(page: string, anchor: string): string | undefined {
  const lines = page.split(/\r?\n/);
  const heading = (line: string) => /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
  const slug = (title: string) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, "")
      .replace(/\s/g, "-");
  const start = lines.findIndex((line) => slug(heading(line)?.[2] ?? "\0") === anchor.toLowerCase());
  if (start < 0) return undefined;
  const rank = heading(lines[start]!)![1]!.length;
  const end = lines.findIndex((line, i) => i > start && (heading(line)?.[1]?.length ?? 7) <= rank);
  return lines.slice(start, end < 0 ? undefined : end).join("\n");
}

function linesAbout(text: string, word: string): string {
  const lines = text.split("\n").filter((line) => line.includes(word));
  return lines.length > 0 ? lines.join("\n") : text.slice(0, 400);
}

/** A job that was not applied is told of by the part about the store. */
function gap(context: CheckContext, { job, applied }: Pair): Result[] {
  if (!applied) return [];
  const { lines, contradiction } = lateFires(applied);
  const evidence = [computed(context, "the scheduler's rule, asked about a gap", lines.join("\n"))];
  const location = jobLocation(job);
  if (contradiction === undefined)
    return [result(jobScope(job), "pass", "a gap on trial ends as the policy says", evidence, { location })];
  return [
    result(jobScope(job), "fail", contradiction, evidence, {
      todo: "run the version of the program that the schedulers run",
      location,
    }),
  ];
}

async function behaviour(context: CheckContext): Promise<Result[]> {
  const { from, to } = context.window;
  const looked = await readMisfireCounts(openStore(context), from, to);
  const evidence = queryEvidence(context, looked);
  const { pairs: known } = await pairs(context);
  return [
    result(clusterScope(context), "pass", `late fires of ${looked.rows.length} job(s) were looked at`, [
      evidence,
    ]),
    ...known.flatMap((pair) => contradiction(pair, looked.rows, evidence)),
  ];
}

function contradiction(
  { job, applied }: Pair,
  rows: readonly { readonly jobId: number; readonly ranLate: number }[],
  evidence: Evidence,
): Result[] {
  const late = rows.find(({ jobId }) => jobId === applied?.jobId)?.ranLate ?? 0;
  if (job.definition.misfire.policy !== "skip" || late === 0) return [];
  const message = `the policy is skip, and ${late} late fire(s) ran all the same`;
  return [
    result(jobScope(job), "fail", message, [evidence], {
      todo: "escapement executions",
      location: jobLocation(job),
    }),
  ];
}
