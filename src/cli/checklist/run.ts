/** One run of the checklist: reads, connects, asks the items, writes what they say. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { formatDuration } from "../../base/duration.ts";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { formatInstant } from "../../base/instant.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import { assembleReport, type ReportHead } from "../../checklist/assemble-report.ts";
import { defaultEvidenceAges } from "../../checklist/context.ts";
import { checklistItems } from "../../checklist/items/all.ts";
import { allItems } from "../../checklist/judge.ts";
import type { ChecklistReport } from "../../checklist/report-schema.ts";
import { type ItemRun, runItems } from "../../checklist/run-items.ts";
import { signReport } from "../../checklist/signature.ts";
import { worstOf } from "../../checklist/verdict.ts";
import { scopeText } from "../../checklist/waivers.ts";
import type { ChecklistOptions } from "../checklist.ts";
import { connectionFor } from "../hosts/reach-options.ts";
import { personOf } from "../person.ts";
import { print, say } from "../terminal.ts";
import { findBaseline, recordRun } from "./baseline.ts";
import { readKey } from "./believe.ts";
import { type ReadDefinitions, readDefinitions } from "./definitions.ts";
import { type Format, render, writeFormats } from "./formats.ts";
import { gateExit } from "./gate-exit.ts";
import { type ConnectedHosts, connectHosts } from "./hosts.ts";
import { openStandby } from "./standby.ts";
import { type OpenedStore, openStore } from "./store.ts";

/** Who stops a run waits that long for connections to close. */
const partingMs = 1_000;

/** @throws E_SPEC_INVALID, E_USAGE, E_BAD_VALUE, E_STORE_URL_MISSING before anything is asked */
export async function runChecklist(paths: readonly string[], options: ChecklistOptions): Promise<void> {
  const formats = chooseFormats(options);
  // Whatever ends this run early, a reader that closes its pipe included, was no pass.
  if (options.gate) process.exitCode = ExitCode.unknown;
  const startedMs = monotonicMs();
  const key = options.sign === undefined ? undefined : await readKey(options.sign);
  const read = await readDefinitions(paths, options);
  const items = chooseItems(options.item);
  const reach = await connectionFor(options);
  // What was opened is closed also when the next cannot be: idle connections keep a program alive.
  const ends: (() => Promise<void>)[] = [];
  try {
    const store = await openStore(options);
    ends.push(store.end);
    if (store.probe.state === "unreachable") say(`the record store cannot be asked: ${store.probe.reason}`);
    const standby = await openStandby(options.standby);
    ends.push(standby.end);
    const hosts = await connectHosts(
      read.definitions.inventory?.definition,
      options.profiles ?? [],
      reach.connect,
      options.itemTimeout,
    );
    ends.push(hosts.close);
    const window = {
      from: new Date(store.startedAt.getTime() - options.window),
      to: store.startedAt,
    };
    const runs = await runItems({
      items,
      contextFor: (signal) => ({
        store: store.probe,
        ...(standby.probe && { standby: standby.probe }),
        definitions: read.definitions,
        hosts: hosts.probes,
        tier: hosts.tier,
        window,
        maxAgeMs: defaultEvidenceAges,
        drills: store.drills,
        at: store.at,
        itemTimeoutMs: options.itemTimeout,
        signal,
      }),
      deadlineMs: options.itemTimeout,
      signal: reach.signal,
      cluster: read.clusterName,
      onItem: sayItem,
    });
    const baseline = await findBaseline(options.baseline, store.probe, reach.signal);
    const { report, notNeeded } = assembleReport({
      head: headOf({ read, store, hosts, options, durationMs: Math.round(monotonicMs() - startedMs) }),
      runs,
      waivers: read.waivers,
      known: allItems,
      definitionProblems: read.definitions.problems ?? [],
      locate: read.locate,
      ...(baseline && { baseline }),
    });
    for (const { item, scope, at } of notNeeded)
      say(`${at.file}:${at.line}: item ${item}, ${scopeText(scope)} passes by now: its waiver can go`);
    const signed = key === undefined ? report : signReport(report, key);
    if (options.gate) process.exitCode = gateExit[report.outcome];
    await publish(signed, formats, options);
    if (!reach.signal.aborted) await recordRun(signed, store.probe);
    if (reach.signal.aborted) process.exitCode = ExitCode.interrupted;
  } finally {
    const closed = Promise.all(ends.map((end) => end()));
    await (reach.signal.aborted ? Promise.race([closed, leave()]) : closed);
  }
}

/** A statement that waits for a lock would hold its connection, and that the program. */
async function leave(): Promise<never> {
  await sleep(partingMs, undefined, { ref: false });
  await new Promise<void>((resolve) => process.stdout.write("", () => resolve()));
  process.exit(ExitCode.interrupted);
}

/** @throws E_USAGE */
function chooseFormats({ format, json, output, sign }: ChecklistOptions): readonly Format[] {
  const formats = json ? (["json"] as const) : (format ?? ["text"]);
  if (json && format?.some((one) => one !== "json") && output === undefined)
    throw new EscapementError("E_USAGE", { what: "--json and another --format need a folder: -o DIR" });
  const all = json && format ? [...new Set<Format>([...format, "json"])] : formats;
  if (all.length > 1 && output === undefined)
    throw new EscapementError("E_USAGE", { what: "more than one format needs a folder: -o DIR" });
  if (sign !== undefined && !all.includes("json"))
    throw new EscapementError("E_USAGE", { what: "--sign signs the JSON report: add --format json" });
  return all;
}

/** @throws E_BAD_VALUE */
function chooseItems(wanted: readonly number[] | undefined) {
  if (wanted === undefined) return checklistItems;
  const unknown = wanted.find((number) => !checklistItems.some((item) => item.number === number));
  if (unknown !== undefined)
    throw new EscapementError("E_BAD_VALUE", {
      option: "--item",
      value: String(unknown),
      expected: "the number of an item",
      hint: `there are ${checklistItems.map(({ number }) => number).join(", ")}`,
    });
  return checklistItems.filter(({ number }) => wanted.includes(number));
}

function sayItem({ item, results, durationMs }: ItemRun): void {
  const verdict = worstOf(results.map((result) => result.verdict));
  say(`item ${String(item.number).padStart(2)} ${item.id}: ${verdict} (${formatDuration(durationMs)})`);
}

interface HeadParts {
  readonly read: ReadDefinitions;
  readonly store: OpenedStore;
  readonly hosts: ConnectedHosts;
  readonly options: ChecklistOptions;
  readonly durationMs: number;
}

/** What the report is bound to. */
function headOf({ read, store, hosts, options, durationMs }: HeadParts): ReportHead {
  const { definitions, commit, clusterName } = read;
  return {
    schemaVersion: 1,
    kind: "escapement-checklist-report",
    tool: { version: process.env.ESCAPEMENT_VERSION ?? "0.0.0" },
    runId: randomUUID(),
    at: formatInstant(store.startedAt),
    clock: store.clock,
    durationMs,
    person: personOf(options),
    cluster: { id: store.clusterId, name: clusterName },
    commit,
    definitions: { digest: definitions.digest, jobs: definitions.jobs.length },
    window: {
      from: formatInstant(new Date(store.startedAt.getTime() - options.window)),
      to: formatInstant(store.startedAt),
    },
    tier: hosts.tier,
    hosts: hosts.probes.map(({ name, roles, failureDomain, container }) => ({
      name,
      roles: [...roles],
      failureDomain,
      ...(container !== undefined && { container }),
      reached: hosts.reached.has(name),
    })),
    asked: {
      items: options.item ? [...options.item].sort((a, b) => a - b) : null,
      job: options.job ?? null,
    },
  };
}

async function publish(
  report: ChecklistReport,
  formats: readonly Format[],
  options: ChecklistOptions,
): Promise<void> {
  if (options.output !== undefined) await writeFormats(report, formats, options.output);
  const [only] = formats;
  const shown: Format = options.json ? "json" : options.output === undefined ? (only ?? "text") : "text";
  print(render(report, shown, options.verbose ?? false).replace(/\n$/, ""));
}
