/** What must be so before a fault: everything is looked at and told, not only the first thing that is wrong. */
import { messageOf } from "../../base/errors.ts";
import type { DrillDefinition, DrillVariant } from "../../spec/drill-definition.ts";
import type { Database } from "../../store/database.ts";
import { activeDrillHalt } from "../../store/drill/drill-halt.ts";
import { openCriticalAlerts, sampleCluster } from "../../store/drill/drill-sample.ts";
import { readServerHealth } from "../../store/watch/health.ts";
import { clusterItems, type PreflightItem, replicationItem } from "../plan/cluster-items.ts";
import { roleText } from "../plan/fault-text.ts";
import type { TargetChoice } from "../plan/select-target.ts";
import type { ReachWatch } from "./reach-watch.ts";
import type { ReferenceClock } from "./reference-clock.ts";
import type { ProbeWish } from "./run-options.ts";
import type { WatchedHost } from "./watched-host.ts";
import { witnessPlace } from "./witness-place.ts";

export interface PreflightQuestion {
  readonly definition: DrillDefinition;
  readonly variant: DrillVariant;
  /** Hosts that the fault may strike, or why there is none. */
  readonly choice: TargetChoice;
  readonly hosts: readonly WatchedHost[];
  readonly db: Database;
  readonly probe: ProbeWish;
  readonly clock: ReferenceClock;
  readonly reach: ReachWatch | undefined;
}

/** An alert that nobody resolves is old news after this many minutes. */
const alertMinutes = 15;
const reachHint =
  "let hosts reach each other's sshd, or leave unreachable by another-host out of the drill's proof";
const versionHint = "escapement apply puts the program for drills of this version on hosts";

/** Looks at everything. Each item is one sentence; the drill begins only if none is wrong. */
export async function preflight(question: PreflightQuestion): Promise<PreflightItem[]> {
  const { definition, variant, choice, db } = question;
  const { steadyState, blastRadius } = definition;
  const sample = await sampleCluster(db);
  const halt = await activeDrillHalt(db);
  const items: PreflightItem[] = [
    item("drills are not halted", !halt, halt ? `halted by ${halt.person}: ${halt.reason}` : "open"),
    item(
      `${roleText(variant.target.role)} may be drilled`,
      "target" in choice,
      "target" in choice ? candidatesOf(choice).join(", ") : choice.refused,
    ),
    item(
      "the record store is the target only where the drill says so",
      variant.target.role !== "record-store" || blastRadius.recordStore,
      variant.target.role === "record-store"
        ? `blastRadius.recordStore is ${blastRadius.recordStore}`
        : "not the store",
    ),
    ...clusterItems(definition, sample),
  ];
  items.push(await witnessPlace(question.probe));
  if (steadyState.noCriticalAlerts) items.push(await alerts(db));
  items.push(replicationItem(definition, (await readServerHealth(db)).replicas));
  items.push(...(await Promise.all(question.hosts.map((host) => lookAt(question, host)))).flat());
  items.push(...(await reached(question)));
  return items;
}

/** Whoever is to say that the target cannot be reached must reach it now. */
async function reached({ reach, choice, hosts }: PreflightQuestion): Promise<PreflightItem[]> {
  if (!reach) return [];
  const candidates = hosts.filter(({ name }) => candidatesOf(choice).includes(name));
  return Promise.all(
    candidates.map(async (host) => {
      const { asked, by, trouble } = await reach.before(host);
      const what = `another host reaches ${host.name}`;
      if (by.length > 0) return item(what, true, by.join(", "));
      const why = asked.length > 0 ? `no answer for ${asked.join(", ")}` : "there is no other host to ask";
      return { ...item(what, false, trouble ?? why), hint: trouble === undefined ? reachHint : versionHint };
    }),
  );
}

function candidatesOf(choice: TargetChoice): string[] {
  return "target" in choice ? [choice.target, ...choice.also].map(({ host }) => host) : [];
}

function item(what: string, ok: boolean, detail: string): PreflightItem {
  return { what, ok, detail };
}

async function alerts(db: Database): Promise<PreflightItem> {
  const open = await openCriticalAlerts(db, alertMinutes);
  return item("no critical alert is open", open.length === 0, open[0] ?? "none");
}

async function lookAt(question: PreflightQuestion, host: WatchedHost): Promise<PreflightItem[]> {
  const { definition, variant, choice, clock } = question;
  const { fault } = variant;
  const isCandidate = candidatesOf(choice).includes(host.name);
  const paths = isCandidate && fault.kind === "fill-disk" ? [fault.path] : ["/"];
  try {
    const seen = await host.look(clock, paths);
    const { look } = seen;
    const items = [
      item(
        `no drill is on ${host.name}`,
        look.running === undefined,
        look.running === undefined ? "none" : `run ${look.running}`,
      ),
      item(
        `the clock of ${host.name} is right`,
        Math.abs(seen.offsetMs) - seen.uncertaintyMs < definition.steadyState.offsetBelowMs,
        `${Math.round(seen.offsetMs)} ms off the database's, give or take ${Math.round(seen.uncertaintyMs)} ms`,
      ),
      ...host.units.map((unit) => {
        const active = look.units[unit]?.active ?? "not there";
        return item(`${unit} runs on ${host.name}`, active === "active", active);
      }),
    ];
    if (!isCandidate) return items;
    items.push(
      item(`${host.name} has no trouble of its own`, look.trouble === undefined, look.trouble ?? "none"),
    );
    const can = look.can[fault.kind];
    items.push(
      item(
        `${host.name} can do it: ${fault.kind}`,
        can === true,
        can === true ? "yes" : (can ?? "it does not say that it can"),
      ),
    );
    const free = Object.entries(look.freeBytes);
    const low = free.filter(([, bytes]) => bytes < definition.abort.freeBelowBytes);
    if (fault.kind !== "fill-disk")
      items.push(
        item(
          `${host.name} has free disk`,
          free.length > 0 && low.length === 0,
          free.map(([path, bytes]) => `${path}: ${bytes} bytes free`).join(", ") || "it does not say",
        ),
      );
    return items;
  } catch (error) {
    return [item(`${host.name} answers`, false, messageOf(error))];
  }
}
