/** Item 6: doing it twice is the same as doing it once. */
import { createHash } from "node:crypto";
import type { ResolvedJob } from "../../spec/definitions.ts";
import { canonicalJson } from "../../spec/digest.ts";
import { type RehearsalRow, readRehearsals } from "../../store/checklist/job-rehearsals.ts";
import type { Look } from "../../store/checklist/look.ts";
import type { CheckContext } from "../context.ts";
import type { ChecklistItem, Evidence, Result } from "../item.ts";
import { days } from "./drill-passes.ts";
import { noJobs, type Pair, pairs, unreadable } from "./job-files.ts";
import { codeWords, isHarmless, readSource, sourcePaths } from "./job-sources.ts";
import { inParts, openStore } from "./parts.ts";
import { type Finding, firstWrite, isText, scanSource, showsCall } from "./source-scan.ts";
import { fileEvidence, jobLocation, jobName, jobScope, queryEvidence, result } from "./verdicts.ts";

export const idempotentWrites: ChecklistItem<CheckContext> = {
  number: 6,
  id: "idempotent-writes",
  question: "Does every write give the same when it is done twice: rows, messages, calls?",
  why: "A job is interrupted and tried again; nobody can prevent that. What adds up, sends or pays without a key then does it twice.",
  how: "The sources that each effect names are read for an UPDATE that adds to its own column, an INSERT that would take a second row, a message or a call without a key. Of jobs that change tables, the last rehearsal is looked at: the same fire run twice in a scratch database, where the repeat changed nothing, by this definition and these sources.",
  check: (context) =>
    inParts(context, {
      "the sources of effects": () => sources(context),
      rehearsals: () => rehearsals(context),
    }),
};

const words: Readonly<Record<Finding["kind"], string>> = {
  "accumulating-update": "an UPDATE adds to its own column",
  "plain-insert": "an INSERT takes a second row",
  "message-without-key": "a message is sent without a key",
  "call-without-key": "a call is made without a key",
};

const advice: Readonly<Record<Finding["kind"], string>> = {
  "accumulating-update": "compute the whole anew, or claim a key in the same transaction (docs/guard.md)",
  "plain-insert": "add ON CONFLICT with the key of the effect, or replace the whole part",
  "message-without-key": "send ESCAPEMENT_IDEMPOTENCY_KEY and the business key with it",
  "call-without-key":
    "send ESCAPEMENT_IDEMPOTENCY_KEY and the business key with it, or use the guard's externalCall",
};

async function sources(context: CheckContext): Promise<Result[]> {
  const { jobs } = context.definitions;
  const broken = unreadable(context);
  if (jobs.length === 0 && broken.length === 0) return [noJobs(context)];
  return [...broken, ...(await Promise.all(jobs.map((job) => scanJob(context, job))))];
}

async function scanJob(context: CheckContext, job: ResolvedJob): Promise<Result> {
  const scope = jobScope(job);
  const location = jobLocation(job);
  const { effects } = job.definition;
  const paths = sourcePaths(job);
  if (effects.length === 0) return changesNothing(context, job);
  const targets = effects.filter(({ kind }) => kind === "table").map(({ target }) => target);
  const evidence: Evidence[] = [];
  const found: (Finding & { readonly path: string })[] = [];
  const unread: string[] = [];
  const calling = new Set<string>();
  for (const path of paths) {
    const text = await readSource(context.definitions.root, path);
    if (text === null || !isText(path, text)) {
      unread.push(path);
      continue;
    }
    if (showsCall(path, text)) calling.add(path);
    const findings = scanSource({ path, text, targets }).map((one) => ({ ...one, path }));
    found.push(...findings);
    const lines = findings.map(({ line, text: words }) => `${path}:${line}: ${words}`);
    evidence.push(
      fileEvidence(
        context,
        path,
        lines.length > 0 ? lines.join("\n") : `nothing found in ${text.split("\n").length} lines`,
      ),
    );
  }
  if (found.length > 0) {
    const message = found.map(({ path, line, kind }) => `${path}:${line}: ${words[kind]}`).join("; ");
    const [first] = found;
    return result(scope, "fail", message, evidence, {
      todo: [...new Set(found.map(({ kind }) => advice[kind]))].join("; "),
      location: { file: first!.path, line: first!.line },
    });
  }
  if (unread.length > 0)
    return result(scope, "unknown", `could not read ${unread.join(", ")}`, evidence, {
      todo: "name sources by their path from the repository's root",
      location,
    });
  // No rehearsal shows these: what sends them must be looked at.
  const silent = effects.filter(
    (effect) => effect.kind !== "table" && !effect.sources.some((path) => calling.has(path)),
  );
  if (silent.length > 0) {
    const message = silent
      .map(({ sources: at, target }) => `nothing in ${at.join(", ")} sends what goes to ${target}`)
      .join("; ");
    return result(scope, "unknown", `${message}: whether it has a key was not looked at`, evidence, {
      todo: "name the source that sends it, or send ESCAPEMENT_IDEMPOTENCY_KEY with it",
      location,
    });
  }
  return result(scope, "pass", `nothing in ${paths.join(", ")} adds up or repeats`, evidence, { location });
}

const shells = /^(?:.*\/)?(?:ba|da|k|z)?sh$/;

/** Words of a shell, and programs that only say something. */
const ofShell =
  /^(?:[!{}:[]|\[\[|true|false|echo|printf|sleep|date|test|exit|set|cd|pwd|hostname|uname|id|cat|grep|head|tail|wc|sort|export|unset|local|return|shift|wait|trap|read|if|then|else|elif|fi|for|while|until|do|done|case|esac|in|exec|time)$/;

/** The first program of a shell's line that may change something as far as anybody knows here. */
function strangerIn(line: string): string | undefined {
  const inner = [...line.matchAll(/\$\(([^()]*)\)|`([^`]*)`/g)].map(([, a, b]) => a ?? b ?? "");
  const outer = line.replace(/\$\([^()]*\)|`[^`]*`/g, "x");
  for (const part of [outer, ...inner].flatMap((text) => text.split(/[;&|\n]+/))) {
    const words = part.trim().split(/\s+/);
    const first = words.find(
      (word) => !/^\w+=/.test(word) && !/^(?:if|then|else|elif|do|while|until|exec|time|!|\{|\()$/.test(word),
    );
    const name = first?.replace(/^[("']+|[)"']+$/g, "");
    if (name && !ofShell.test(name)) return name;
  }
  return undefined;
}

/** A job that declares no effect: its own code is looked at, as far as it is here. */
async function changesNothing(context: CheckContext, job: ResolvedJob): Promise<Result> {
  const scope = jobScope(job);
  const location = jobLocation(job);
  const { command } = job.definition;
  const evidence = [
    fileEvidence(context, `${job.file}:${job.line}`, `effects: []; command: ${JSON.stringify(command)}`),
  ];
  if (isHarmless(job)) return result(scope, "pass", `${command[0]} changes nothing`, evidence, { location });
  let seen = 0;
  for (const { word, isInline, paths } of codeWords(job)) {
    let text: string | null = isInline ? word : null;
    for (const path of paths) text ??= await readSource(context.definitions.root, path);
    if (text === null || !isText(isInline ? "inline" : word, text)) continue;
    seen += 1;
    const write = firstWrite(isInline ? "inline" : word, text);
    if (write) {
      const message = `it declares no effect, and ${isInline ? "its command" : word}:${write.line} has: ${write.text}`;
      return result(scope, "fail", message, evidence, {
        todo: "declare the effect, with its key and sources",
        location,
      });
    }
    const stranger = isInline && shells.test(command[0]!) ? strangerIn(text) : undefined;
    if (stranger !== undefined)
      return result(
        scope,
        "unknown",
        `it declares no effect, and what ${stranger} does cannot be seen`,
        evidence,
        { todo: "declare its effects, with their keys and sources", location },
      );
  }
  if (seen > 0)
    return result(scope, "pass", "it declares no effect, and its code shows none", evidence, { location });
  const message = "it declares no effect, and its code is not in the repository";
  return result(scope, "unknown", message, evidence, {
    todo: "keep the code beside the job files, or declare its effects",
    location,
  });
}

async function rehearsals(context: CheckContext): Promise<Result[]> {
  const looked = await readRehearsals(openStore(context));
  const rows = new Map(looked.rows.map((row) => [row.jobId, row]));
  const known = (await pairs(context)).pairs.filter(({ job }) =>
    job.definition.effects.some(({ kind }) => kind === "table"),
  );
  return Promise.all(
    known.map((pair) => rehearsalOf(context, pair, pair.applied && rows.get(pair.applied.jobId), looked)),
  );
}

async function rehearsalOf(
  context: CheckContext,
  { job }: Pair,
  row: RehearsalRow | undefined,
  looked: Look<RehearsalRow>,
): Promise<Result> {
  const scope = jobScope(job);
  const location = jobLocation(job);
  const name = jobName(job.definition);
  const todo = `escapement checklist rehearse ${name}`;
  if (!row)
    return result(
      scope,
      "unknown",
      "the same fire was never run twice in a scratch database",
      [queryEvidence(context, looked, [])],
      { todo, location },
    );
  const { rehearsal, ageMs } = row;
  const evidence = [{ ...queryEvidence(context, looked, [row]), ageMs }];
  const now = canonicalJson(await sourceDigests(context.definitions.root, job));
  if (rehearsal.digest !== job.digest || canonicalJson(rehearsal.sources) !== now)
    return result(scope, "unknown", `the rehearsal of ${days(ageMs)} ago was of another version`, evidence, {
      todo,
      location,
    });
  const left = rehearsal.ignored?.length ? `; not compared: ${rehearsal.ignored.join(", ")}` : "";
  if (rehearsal.verdict === "pass")
    return result(
      scope,
      "pass",
      `a repeat changed nothing (${days(ageMs)} ago; the first run changed ${rehearsal.changed.join(", ")}${left})`,
      evidence,
      { location },
    );
  return result(scope, rehearsal.verdict, `rehearsed ${days(ageMs)} ago: ${rehearsal.reason}`, evidence, {
    todo,
    location,
  });
}

/** SHA-256 of every source, by path; of one that cannot be read, nothing. */
export async function sourceDigests(root: string, job: ResolvedJob): Promise<Record<string, string>> {
  const digests: Record<string, string> = {};
  for (const path of sourcePaths(job)) {
    const text = await readSource(root, path);
    digests[path] = text === null ? "" : createHash("sha256").update(text).digest("hex");
  }
  return digests;
}
