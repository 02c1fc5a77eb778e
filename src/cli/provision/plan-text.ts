/** A plan, an outcome and a recap as people read them. */
import { formatDuration } from "../../base/duration.ts";
import type { HostOutcome } from "../../provision/apply/outcome.ts";
import {
  changesOf,
  type HostPlan,
  leftToOthers,
  type PlannedResource,
  unknownsOf,
} from "../../provision/plan/host-plan.ts";
import { notPreviewable } from "../../provision/plan/plan-file.ts";
import type { DueRestart } from "../../provision/plan/step.ts";
import { paint } from "../terminal.ts";
import { unknownLines } from "./needs.ts";

export interface TextOptions {
  readonly diff: boolean;
  /** List also what the kind of host makes impossible. */
  readonly all: boolean;
  /** How long the host took to answer. */
  readonly durationMs?: number;
}

/** Everything that would change on one host, below a line that sums it up. */
export function planText(plan: HostPlan, { diff, all, durationMs }: TextOptions): string {
  const changes = changesOf(plan);
  const unknowns = unknownsOf(plan);
  const left = leftToOthers(plan);
  const right = plan.entries.filter(({ judged }) => judged.state === "ok").length;
  const counts = [
    `${changes.length} to change`,
    `${right} as ${right === 1 ? "it" : "they"} should be`,
    ...(unknowns.length > 0 ? [`${unknowns.length} unknown`] : []),
    ...(left.length > 0 ? [`${left.length} for somebody else to make`] : []),
    ...(plan.restarts.length > 0 ? [`${plan.restarts.length} to restart`] : []),
  ];
  const took = durationMs === undefined ? "" : paint.dim(`  (${formatDuration(Math.round(durationMs))})`);
  const head = `${paint.bold(plan.host)}  ${counts.join(", ")}${took}`;
  const hidden = notPreviewable(plan);
  const reboots = plan.entries.filter(({ judged }) => judged.needsReboot && judged.steps.length === 0);
  return [
    head,
    ...plan.interrupted.map(
      (id) =>
        `  ${paint.red("!")} transaction ${id} is not finished; the host or the next apply puts it back`,
    ),
    ...changes.flatMap((entry) => changeLines(entry, diff)),
    ...left.map(({ resource, judged }) => `  ${paint.red("!")} ${resource.id}  ${judged.lines.join("; ")}`),
    ...plan.restarts.map(restartLine),
    ...unknownLines(
      unknowns.map(({ resource, judged }) => `${resource.id}  ${judged.lines.join("; ")}`),
      all,
    ),
    ...reboots.map(({ resource }) => `  ${paint.yellow("·")} ${resource.id}  takes effect at the next boot`),
    ...(hidden.length > 0 ? ["  cannot be previewed:", ...hidden.map((line) => `    ${line}`)] : []),
  ].join("\n");
}

function changeLines({ resource, judged }: PlannedResource, diff: boolean): string[] {
  const gone = judged.steps.every((step) => ["remove", "uninstall"].includes(step.do));
  const sign = judged.state === "missing" ? paint.green("+") : gone ? paint.red("-") : paint.yellow("~");
  const risk =
    resource.risk === "low"
      ? ""
      : `  ${(resource.risk === "high" ? paint.red : paint.yellow)(`risk ${resource.risk}`)}`;
  const texts = judged.lines.length > 0 ? judged.lines : ["content"];
  const lines = [`  ${sign} ${resource.id}  ${texts.join(", ")}${risk}`];
  if (diff && judged.diff)
    for (const line of judged.diff.split("\n").slice(2))
      lines.push(
        `      ${line.startsWith("+") ? paint.green(line) : line.startsWith("-") ? paint.red(line) : line}`,
      );
  return lines;
}

function restartLine({ unit, action, reason, unless }: DueRestart): string {
  const wait = unless ? "; waits while this host is the active scheduler" : "";
  return `  ${paint.yellow("!")} ${action === "reload" ? "reload" : "restart"} ${unit}  ${reason}${wait}`;
}

/**
 * What became of one host, on one line and the lines below it.
 * @param all lists also what cannot be judged on this kind of host
 */
export function outcomeText(one: HostOutcome, all: boolean): string {
  const colour =
    one.status === "ok" || one.status === "changed"
      ? paint.green
      : one.status === "skipped"
        ? paint.yellow
        : paint.red;
  const what: Record<HostOutcome["result"], string> = {
    unchanged: "nothing to change",
    committed: `${one.changes} change(s) made and confirmed`,
    moved: "nothing changed: the host is not as it was when it was planned",
    refused: "nothing changed",
    busy: "nothing changed",
    reverted: "everything was put back",
    broken: "putting everything back did not finish",
    lost: "not known: the host puts everything back by itself if it was not confirmed",
    "not-started": "not begun",
  };
  return [
    `${paint.bold(one.host)}  ${colour(one.status)}  ${what[one.result]}${one.reason ? `: ${one.reason}` : ""}`,
    ...one.moved.map((line) => `    moved: ${line}`),
    ...one.deferred.map(({ unit, reason }) => `    restart of ${unit} waits: ${reason}`),
    ...one.leftToOthers.map((line) => `    ${paint.red("!")} ${line}`),
    ...unknownLines([...one.unknowns, ...one.beyondHost], all),
    ...(one.hint ? [`    ${one.hint}`] : []),
  ].join("\n");
}

const order = ["ok", "changed", "failed", "skipped", "unreachable", "unknown"];

/** `5 hosts: 3 ok, 1 changed, 0 failed, 0 skipped, 1 unreachable`. */
export function recap(statuses: readonly string[]): string {
  const counts = order
    .map((status) => [status, statuses.filter((one) => one === status).length] as const)
    .filter(([status, count]) => count > 0 || status !== "unknown")
    .map(([status, count]) => `${count} ${status}`);
  return `${statuses.length} host${statuses.length === 1 ? "" : "s"}: ${counts.join(", ")}`;
}
