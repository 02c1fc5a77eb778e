/** A playbook as a picture: what happens in which order, where, and what each step asks before and after. */
import { formatDuration } from "../../base/duration.ts";
import type { Playbook } from "../../provision/playbook/load-playbook.ts";
import type { PlaybookHost } from "../../provision/playbook/registry.ts";
import { groupHosts, selectHosts } from "../../provision/playbook/select-hosts.ts";
import type { PlaybookStep } from "../../spec/playbook-schema.ts";
import { paint } from "../terminal.ts";

const riskPaint = { low: paint.green, medium: paint.yellow, high: paint.red } as const;

/** @param hosts of an inventory, where there is one: then the picture names them */
export function picture(
  playbook: Playbook,
  hosts?: readonly PlaybookHost[],
  targets: readonly PlaybookHost[] = [],
): string {
  const { steps } = playbook.spec;
  const lines = [`${paint.bold(playbook.name)}  ${playbook.spec.description}`];
  for (const [i, step] of steps.entries()) {
    const isLast = i === steps.length - 1;
    const bar = isLast ? " " : "│";
    lines.push("│");
    lines.push(
      `${isLast ? "└" : "├"}─ ${paint.bold(step.id)}  ${step.title}  ${riskPaint[step.risk](`[${step.risk}]`)}`,
    );
    for (const line of detailsOf(step, hosts, targets)) lines.push(`${bar}     ${line}`);
  }
  return lines.join("\n");
}

function detailsOf(
  step: PlaybookStep,
  hosts: readonly PlaybookHost[] | undefined,
  targets: readonly PlaybookHost[],
): string[] {
  const named = (name: string, values: Record<string, unknown>) => {
    const text = Object.entries(values).map(([key, value]) => `${key} ${String(value)}`);
    return text.length > 0 ? `${name} (${text.join(", ")})` : name;
  };
  return [
    `where    ${whereOf(step, hosts, targets)}`,
    ...step.requires.map((check) => `needs    ${named(check.check, check.with)}`),
    ...(step.guard ? [`unless   ${named(step.guard.check, step.guard.with)}`] : []),
    `does     ${named(step.action.do, step.action.with)}`,
    ...(step.verify
      ? [
          `then     ${named(step.verify.check, step.verify.with)}, within ${formatDuration(step.verify.within)}`,
        ]
      : []),
    ...(step.undo ? [`undo     ${named(step.undo.do, step.undo.with)}`] : []),
  ];
}

const picks = { all: "every", first: "the first", target: "the named", others: "every other" } as const;
const ways = {
  together: "together",
  "by-domain": "a failure domain at a time",
  "one-by-one": "one by one",
} as const;

function whereOf(
  step: PlaybookStep,
  hosts: readonly PlaybookHost[] | undefined,
  targets: readonly PlaybookHost[],
): string {
  const { role, pick, order } = step.hosts;
  const words = `${picks[pick]} ${role === "any" ? "host" : role}${order === "standby-first" ? ", the leading one last" : ""}`;
  const pause = step.pause ? `, ${formatDuration(step.pause)} apart` : "";
  if (!hosts) return `${words}, ${ways[step.rolling]}${pause}`;
  const groups = groupHosts(step.rolling, selectHosts(step.hosts, hosts, targets));
  const named = groups.map((group) => group.map((host) => host.name).join(" + ")).join("  →  ");
  return `${words}: ${named === "" ? "none here" : named}${pause}`;
}
