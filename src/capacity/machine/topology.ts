/**
 * May a scheduler and an executor share a machine? Only if none of four
 * conditions holds. What is not known counts as holding.
 */
import type { Workload, WorkloadJob } from "../../spec/workload-schema.ts";
import { type SourceId, sourceOf } from "../source.ts";
import { estimateConcurrency, type Machine } from "./concurrency.ts";
import { needOf } from "./workload-need.ts";

export interface Condition {
  readonly name: string;
  readonly question: string;
  readonly holds: "yes" | "no" | "unknown";
  readonly reason: string;
  readonly formula: string;
  readonly inputs: Readonly<Record<string, number | string>>;
  readonly source: { readonly id: SourceId; readonly text: string };
}

export interface Topology {
  readonly verdict: "separate" | "separate-until-known" | "may-share";
  readonly why: string;
  readonly conditions: readonly Condition[];
}

/** Above this share of a machine's cores or memory, other processes feel it. */
const fullShare = 0.7;
/** Above this share of the network, heartbeats feel it. */
const busyNetworkShare = 0.3;
const daySeconds = 86_400;

/** @param machine the one both would run on; undefined: not known */
export function judgeTopology(workload: Workload, machine: Machine | undefined): Topology {
  const conditions = [
    fillsMachine(workload, machine),
    runsAway(workload),
    scalesOften(workload),
    crowdsNetwork(workload, machine),
  ];
  const holding = conditions.filter(({ holds }) => holds === "yes");
  const unknown = conditions.filter(({ holds }) => holds === "unknown");
  const names = (list: readonly Condition[]) => list.map(({ name }) => name).join(", ");
  if (holding.length > 0) return { verdict: "separate", why: `holds: ${names(holding)}`, conditions };
  if (unknown.length > 0) {
    return {
      verdict: "separate-until-known",
      why: `not known: ${names(unknown)}; unknown is not a no`,
      conditions,
    };
  }
  return { verdict: "may-share", why: "none of the four conditions holds", conditions };
}

function condition(
  name: string,
  question: string,
  holds: Condition["holds"],
  reason: string,
  formula: string,
  inputs: Record<string, number | string>,
): Condition {
  return {
    name,
    question,
    holds,
    reason,
    formula,
    inputs,
    source: { id: "rule.split-roles", text: sourceOf("rule.split-roles").text },
  };
}

function fillsMachine(workload: Workload, machine: Machine | undefined): Condition {
  const name = "fills the machine";
  const question = "do jobs take so much CPU or memory that other processes suffer?";
  const formula = `busy share in the busiest window ≥ ${fullShare}`;
  if (!machine)
    return condition(
      name,
      question,
      "unknown",
      "the machine is not described: give --cores and --memory",
      formula,
      {},
    );
  let worst = { share: 0, what: "", job: "" };
  for (const job of workload.jobs) {
    const answer = estimateConcurrency(machine, needOf(job));
    const running = Math.min(answer.slots, concurrentShards(job, workload) / workload.executorNodes);
    const scale = answer.slots === 0 ? 0 : running / answer.slots;
    for (const [what, used, all] of [
      ["CPU", answer.usedCores * scale, machine.cores],
      ["memory", answer.usedMemoryBytes * scale, machine.memoryBytes],
    ] as const) {
      if (answer.slots === 0) worst = { share: 1, what, job: job.name };
      else if (used / all > worst.share) worst = { share: used / all, what, job: job.name };
    }
  }
  const percent = `${Math.round(worst.share * 100)} %`;
  return condition(
    name,
    question,
    worst.share >= fullShare ? "yes" : "no",
    `${worst.job} takes ${percent} of the ${worst.what} in the busiest window`,
    formula,
    { share: worst.share, job: worst.job },
  );
}

/** Shards of one line of the workload that run at a time in the busiest window, over all machines. */
export function concurrentShards(job: WorkloadJob, { busiest }: Workload): number {
  const windowSeconds = busiest.within / 1_000;
  const runsInWindow = Math.max(1, job.jobs * job.runsPerDay * busiest.share);
  const workSeconds = (runsInWindow * job.totalTime) / 1_000;
  return Math.min(
    runsInWindow * job.shards,
    Math.max(
      workSeconds / Math.max(windowSeconds, 1),
      (job.jobs * job.runsPerDay * job.totalTime) / 1_000 / daySeconds,
    ),
  );
}

function runsAway({ jobs }: Workload): Condition {
  const name = "may run away";
  const question = "may a job exhaust memory, crash or run wild, and take the scheduler with it?";
  const formula = "canRunAway of any job";
  const wild = jobs.filter(({ canRunAway }) => canRunAway === true).map((job) => job.name);
  const open = jobs.filter(({ canRunAway }) => canRunAway === undefined).map((job) => job.name);
  if (wild.length > 0)
    return condition(name, question, "yes", `${wild.join(", ")} may`, formula, { jobs: wild.join(", ") });
  if (open.length > 0)
    return condition(name, question, "unknown", `canRunAway is not given for ${open.join(", ")}`, formula, {
      jobs: open.join(", "),
    });
  return condition(name, question, "no", "no job may", formula, {});
}

function scalesOften({ executorChangesPerMonth: changes }: Workload): Condition {
  const name = "scales often";
  const question = "are executors added and rebuilt while the scheduler must stay put?";
  const formula = "executorChangesPerMonth ≥ 1";
  if (changes === undefined)
    return condition(name, question, "unknown", "executorChangesPerMonth is not given", formula, {});
  return condition(name, question, changes >= 1 ? "yes" : "no", `${changes} changes a month`, formula, {
    changes,
  });
}

function crowdsNetwork(workload: Workload, machine: Machine | undefined): Condition {
  const name = "crowds the network";
  const question = "do jobs move so much data that heartbeats are late?";
  const formula = `bytes a second of the busiest job ÷ network ≥ ${busyNetworkShare}`;
  const open = workload.jobs
    .filter(({ networkPerShard }) => networkPerShard === undefined)
    .map((job) => job.name);
  if (open.length > 0)
    return condition(
      name,
      question,
      "unknown",
      `networkPerShard is not given for ${open.join(", ")}`,
      formula,
      {},
    );
  if (machine?.networkBytes === undefined)
    return condition(
      name,
      question,
      "unknown",
      "the machine's network speed is not known: give --network",
      formula,
      {},
    );
  const bytes = Math.max(
    ...workload.jobs.map(
      (job) => (job.networkPerShard ?? 0) * (concurrentShards(job, workload) / workload.executorNodes),
    ),
  );
  const share = bytes / machine.networkBytes;
  return condition(
    name,
    question,
    share >= busyNetworkShare ? "yes" : "no",
    `${Math.round(share * 100)} % of the network`,
    formula,
    { bytes, networkBytes: machine.networkBytes },
  );
}
