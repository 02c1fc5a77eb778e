/** Processes of the cluster as rows: who they are, how they do, what their clocks say. */
import type { ClusterLook } from "../../store/ui/cluster-look.ts";
import type { Tone } from "../text/line.ts";
import type { HostInspection, Inspection } from "./host-inspection.ts";
import { watchmanState } from "./watchmen.ts";

export interface HostRow {
  readonly key: string;
  readonly node: string;
  readonly host: string;
  /** `host`: of the inventory, without a process that tells of itself. */
  readonly role: "scheduler" | "executor" | "watchman" | "host";
  /** `leads`, `stands by`, `active`, `drained`, `gone`… */
  readonly health: string;
  readonly tone: Tone;
  readonly sign: string;
  readonly version: string;
  readonly pid: number | null;
  readonly offsetMs: number | null;
  /** What its own time daemon says. */
  readonly time: string;
  readonly running: number | null;
  readonly slots: number | null;
  readonly startedAt: Date | null;
  readonly note: string;
  readonly drained: boolean;
  /** What facts and verify found on its host; null: not looked at. */
  readonly inspection: HostInspection | null;
}

type Process = Omit<HostRow, "inspection">;

/** Worse than this is worth a look, and worse than that is wrong: the bounds of the clock rules. */
const offsetBoundsMs = { look: 100, wrong: 1_000 };

export function clockTone(offsetMs: number | null): Tone {
  if (offsetMs === null) return "warn";
  const size = Math.abs(offsetMs);
  return size >= offsetBoundsMs.wrong ? "bad" : size >= offsetBoundsMs.look ? "warn" : "good";
}

/** Live processes with a clock, worst first; one that has not measured comes last. */
export function clocksOf(
  look: ClusterLook,
): { readonly node: string; readonly offsetMs: number | null; readonly tone: Tone }[] {
  const live = [
    ...look.schedulers.filter(({ role }) => role === "leader" || role === "standby"),
    ...look.executors.filter(
      ({ state, leaseLeftMs }) => state !== "stopped" && state !== "reaped" && leaseLeftMs > 0,
    ),
  ];
  const size = ({ offsetMs }: { readonly offsetMs: number | null }) =>
    offsetMs === null ? -1 : Math.abs(offsetMs);
  return live
    .map(({ node, offsetMs }) => ({ node, offsetMs, tone: clockTone(offsetMs) }))
    .sort((a, b) => size(b) - size(a));
}

export function hostRows(look: ClusterLook, inspection: Inspection | undefined): HostRow[] {
  const byHost = new Map((inspection?.hosts ?? []).map((one) => [one.host, one]));
  const processes = [
    ...look.schedulers.map(schedulerRow),
    ...look.executors.map(executorRow),
    ...look.watchmen.map(watchmanRow),
  ];
  const named = new Set(processes.map(({ host }) => host));
  const others = [...byHost.keys()].filter((host) => !named.has(host)).map(bareRow);
  return [...processes, ...others].map((one) => ({ ...one, inspection: byHost.get(one.host) ?? null }));
}

/** What neither a host without a process nor a watchman tells of itself. */
const untold = {
  pid: null,
  offsetMs: null,
  time: "",
  running: null,
  slots: null,
  startedAt: null,
  drained: false,
} as const;

function bareRow(host: string): Process {
  return {
    ...untold,
    key: `host ${host}`,
    node: host,
    host,
    role: "host",
    health: "no process",
    tone: "muted",
    sign: "·",
    version: "",
    note: "of the inventory",
  };
}

function schedulerRow(one: ClusterLook["schedulers"][number]): Process {
  const healths: Record<typeof one.role, [string, Tone, string]> = {
    leader: ["leads", "good", "✓"],
    standby: ["stands by", "good", "✓"],
    silent: ["silent", "bad", "✗"],
    stopped: ["stopped", "muted", "-"],
  };
  const [health, tone, sign] = healths[one.role];
  const vip = one.holdsVirtualAddress === null ? "" : one.holdsVirtualAddress ? "holds the VIP" : "no VIP";
  return {
    key: `scheduler ${one.node}`,
    node: one.node,
    host: one.host,
    role: "scheduler",
    health,
    tone,
    sign,
    version: one.version,
    pid: one.pid,
    offsetMs: one.offsetMs,
    time: timeText(one.timeSource),
    running: null,
    slots: null,
    startedAt: one.startedAt,
    note: [vip, `zone data ${one.timeZoneData}`].filter(Boolean).join(", "),
    drained: false,
  };
}

function executorRow(one: ClusterLook["executors"][number]): Process {
  const live = one.leaseLeftMs > 0;
  const [health, tone, sign]: [string, Tone, string] =
    one.state === "stopped"
      ? ["stopped", "muted", "-"]
      : one.state === "reaped" || !live
        ? ["lease ended", "bad", "✗"]
        : one.drain
          ? ["drained", "warn", "⊘"]
          : one.state === "draining"
            ? ["stopping", "warn", "⊘"]
            : ["active", "good", "✓"];
  return {
    key: `executor ${one.node}`,
    node: one.node,
    host: one.host,
    role: "executor",
    health,
    tone,
    sign,
    version: one.version,
    pid: one.pid,
    offsetMs: one.offsetMs,
    time: timeText(one.timeSource),
    running: one.running,
    slots: one.slots,
    startedAt: one.startedAt,
    note: one.drain ? `drained by ${one.drain.person}: ${one.drain.reason}` : "",
    drained: one.drain !== null,
  };
}

function watchmanRow(one: ClusterLook["watchmen"][number]): Process {
  const { state, tone, sign, looked } = watchmanState(one);
  return {
    ...untold,
    key: `watchman ${one.node}`,
    node: one.node,
    host: one.host,
    role: "watchman",
    health: state,
    tone,
    sign,
    version: one.version,
    note: looked,
  };
}

/** What a time daemon says of itself, in a few words. */
function timeText(source: Readonly<Record<string, unknown>> | null): string {
  if (!source) return "";
  if (typeof source.why === "string") return `? ${source.why}`;
  const { isSynchronized, reachable, sources } = source;
  const sync = isSynchronized === true ? "in sync" : isSynchronized === false ? "not in sync" : "? no answer";
  const reached =
    typeof reachable === "number" && typeof sources === "number"
      ? `, ${reachable} of ${sources} sources`
      : "";
  return `chrony ${sync}${reached}`;
}
