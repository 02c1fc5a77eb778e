/** Item 2: one place decides that a job fires. */
import { messageOf } from "../../base/errors.ts";
import {
  type LivingScheduler,
  readEpochDisorder,
  readLeaders,
  readLivingSchedulers,
  tryStranger,
} from "../../store/checklist/triggers.ts";
import type { CheckContext, HostProbe } from "../context.ts";
import type { ChecklistItem, Result } from "../item.ts";
import { type Gathered, gatherSections } from "./host-sections.ts";
import { schedulersOf, startsJob, triggerScript, triggersOf, unreadOf } from "./other-triggers.ts";
import { inParts, merged, openStore } from "./parts.ts";
import { unlistedHosts } from "./unlisted-hosts.ts";
import {
  clusterScope,
  commandEvidence,
  hostScope,
  jobName,
  queryEvidence,
  result,
  trialEvidence,
} from "./verdicts.ts";

/** A scheduler notes that it lives every 5 s. */
const silentMs = 60_000;

export const triggerAuthority: ChecklistItem<CheckContext> = {
  number: 2,
  id: "trigger-authority",
  question: "Is there exactly one authority that fires jobs?",
  why: "Two places that fire the same job run it twice, and each of them is right by its own light. One without a stand-in does not fire when it is gone.",
  how: "One leader row with a lease that holds, two schedulers on two hosts, no execution planned under an older epoch after a newer one, and a stranger's plan is refused in a statement that is rolled back. On every host crontabs, cron folders, at, timers (of users, too) and their services are searched for the commands of all jobs, and the processes for schedulers that are not in these records.",
  check: async (context) => {
    const cluster = await inParts(context, {
      "the leader's row": () => leader(context),
      "the schedulers": () => schedulers(context),
      "the epochs of executions": () => epochs(context),
      "a plan by a stranger": () => stranger(context),
      "the hosts": async () => noHosts(context),
    });
    const known = await livingSchedulers(context);
    const hostNames = new Set<string>();
    const hosts = await Promise.all(
      context.hosts.map((host) =>
        inParts(context, { "its triggers": () => scan(context, host, known, hostNames) }, hostScope(host)),
      ),
    );
    const others = await inParts(context, {
      "the hosts of the records": () => unlistedHosts(context, hostNames),
    });
    return merged([...cluster, ...others, ...hosts.flat()]);
  },
};

async function leader(context: CheckContext): Promise<Result[]> {
  const looked = await readLeaders(openStore(context), silentMs);
  const evidence = [queryEvidence(context, looked)];
  const scope = clusterScope(context);
  const [row, ...more] = looked.rows;
  if (!row || more.length > 0)
    return [
      result(scope, "fail", `the leader's table has ${looked.rows.length} rows`, evidence, {
        todo: "escapement store status",
      }),
    ];
  if (!row.held || row.epoch < 1)
    return [
      result(scope, "fail", "nobody holds the lease of leadership", evidence, {
        todo: "escapement status: start the schedulers",
      }),
    ];
  if (!row.alive)
    return [
      result(scope, "fail", `the leader ${row.node} is not among the schedulers that live`, evidence, {
        todo: "escapement status",
      }),
    ];
  return [result(scope, "pass", `${row.node} leads in epoch ${row.epoch}`, evidence)];
}

async function schedulers(context: CheckContext): Promise<Result[]> {
  const looked = await readLivingSchedulers(openStore(context), silentMs);
  const evidence = [queryEvidence(context, looked)];
  const scope = clusterScope(context);
  const hosts = new Set(looked.rows.map(({ host }) => host));
  const todo = "escapement status: two schedulers on two hosts must run";
  const twice = looked.rows.filter(({ node }, i) => looked.rows.findIndex((row) => row.node === node) !== i);
  if (twice.length > 0)
    return [
      result(scope, "fail", `${twice.map(({ node }) => node).join(", ")} runs twice`, evidence, { todo }),
    ];
  if (hosts.size < 2) {
    const message = `${looked.rows.length} scheduler(s) on ${hosts.size} host(s): nobody takes over when it is gone`;
    return [result(scope, "fail", message, evidence, { todo })];
  }
  return [result(scope, "pass", `${looked.rows.length} schedulers on ${hosts.size} hosts`, evidence)];
}

async function epochs(context: CheckContext): Promise<Result[]> {
  const { from, to } = context.window;
  const looked = await readEpochDisorder(openStore(context), from, to);
  const evidence = [queryEvidence(context, looked)];
  const { count, planned } = looked.rows[0]!;
  const scope = clusterScope(context);
  if (count > 0)
    return [
      result(
        scope,
        "fail",
        `${count} execution(s) were planned by a leader that had been replaced`,
        evidence,
        { todo: "escapement diagnose duplicates" },
      ),
    ];
  if (planned === 0)
    return [
      result(
        scope,
        "unknown",
        "no execution was planned in the window: their order shows nothing",
        evidence,
        {
          todo: "let a job fire once, then look again",
        },
      ),
    ];
  return [result(scope, "pass", `${planned} execution(s) were planned in the order of epochs`, evidence)];
}

async function stranger(context: CheckContext): Promise<Result[]> {
  const tried = await tryStranger(openStore(context));
  const evidence = [trialEvidence(context, tried)];
  const scope = clusterScope(context);
  if (tried.found.planned || tried.found.renewed)
    return [
      result(scope, "fail", "somebody who does not lead could plan", evidence, {
        todo: "escapement store status: restore leader_fence",
      }),
    ];
  return [result(scope, "pass", "a plan by somebody else was refused", evidence)];
}

function noHosts(context: CheckContext): Result[] {
  if (context.hosts.length > 0) return [];
  return [
    result(
      clusterScope(context),
      "unknown",
      "no host was looked at: crontabs and timers may fire the same jobs",
      [],
      {
        todo: "name the inventory",
      },
    ),
  ];
}

/** Why not is said by the part about schedulers. */
async function livingSchedulers(context: CheckContext): Promise<readonly LivingScheduler[] | string> {
  try {
    return (await readLivingSchedulers(openStore(context), silentMs)).rows;
  } catch (error) {
    return messageOf(error);
  }
}

async function scan(
  context: CheckContext,
  host: HostProbe,
  known: readonly LivingScheduler[] | string,
  hostNames: Set<string>,
): Promise<Result[]> {
  const gathered = await gatherSections(host, triggerScript);
  const { sections } = gathered;
  hostNames.add(sections.find(({ title }) => title === "hostname")?.text.trim() || host.name);
  const scope = hostScope(host);
  const triggers = triggersOf(sections);
  const found = context.definitions.allJobs.flatMap(({ definition, file }) =>
    triggers
      .filter(({ line }) => startsJob(line, definition))
      .map((trigger) => ({ ...trigger, job: jobName(definition), file })),
  );
  const active = found.filter((one) => one.active);
  const asleep = found.filter((one) => !one.active);
  const lines = found.map(({ where, line, job }) => `${where}: ${line}   [${job}]`);
  const evidence = [scanEvidence(context, host, gathered, triggers.length, lines)];
  const results: Result[] = [];
  if (active.length > 0) {
    const message = active.map(({ where, job }) => `${where} starts ${job}, too`).join("; ");
    results.push(result(scope, "fail", message, evidence, { todo: "take the line or the timer away" }));
  }
  const unread = unreadOf(sections);
  if (unread.length > 0)
    results.push(
      result(scope, "unknown", `could not read ${unread.join(", ")}`, evidence, { todo: "look as root" }),
    );
  results.push(...strangers(context, host, gathered, known));
  const note =
    asleep.length > 0
      ? `; switched off: ${asleep.map(({ where, job }) => `${where} (${job})`).join(", ")}`
      : "";
  if (context.definitions.allJobs.length === 0)
    results.push(result(scope, "unknown", "there is no job whose command could be searched for", evidence));
  else
    results.push(result(scope, "pass", `none of ${triggers.length} line(s) starts a job${note}`, evidence));
  return results;
}

function scanEvidence(
  context: CheckContext,
  host: HostProbe,
  gathered: Gathered,
  count: number,
  lines: readonly string[],
) {
  const looked = gathered.sections.map(({ title }) => title).join(", ");
  const stdout = `${count} line(s) in: ${looked}\n${lines.length === 0 ? "none of them starts a job" : lines.join("\n")}`;
  return commandEvidence(context, host, gathered.argv, { ...gathered.said, stdout });
}

function strangers(
  context: CheckContext,
  host: HostProbe,
  gathered: Gathered,
  known: readonly LivingScheduler[] | string,
): Result[] {
  const running = schedulersOf(gathered.sections);
  if (running.length === 0) return [];
  const scope = hostScope(host);
  const stdout = running.map(({ pid, line }) => `${pid} ${line}`).join("\n");
  const evidence = [commandEvidence(context, host, gathered.argv, { ...gathered.said, stdout })];
  if (typeof known === "string")
    return [result(scope, "unknown", `whose schedulers run here cannot be told: ${known}`, evidence)];
  const name = gathered.sections.find(({ title }) => title === "hostname")?.text.trim();
  const ours = (pid: number) =>
    known.some((row) => row.pid === pid && (row.host === host.name || row.host === name));
  const others = running.filter(({ pid }) => !ours(pid));
  if (others.length === 0) return [];
  const message = `process ${others.map(({ pid }) => pid).join(", ")} is a scheduler that is not in these records`;
  return [
    result(scope, "fail", message, evidence, { todo: "find out which cluster it belongs to, and stop it" }),
  ];
}
