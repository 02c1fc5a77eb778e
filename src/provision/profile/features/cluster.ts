/** The cluster file of the daemons on this host, made of the inventory and this host's own size. */
import { isIP } from "node:net";
import { formatDuration } from "../../../base/duration.ts";
import { isKnown } from "../../../base/fact.ts";
import type { Resource } from "../../resource.ts";
import { fromSetting, type HostContext, notComputed } from "../host-context.ts";
import { linesFile } from "../make-resource.ts";
import type { Section } from "../resolved-profile.ts";
import { controllerWorkDirectory, controlSlotsOf } from "./drill-controller.ts";
import { planSlots, type SlotPlan } from "./executor-slots.ts";
import { paths, toolkitUser } from "./paths.ts";

/** What the file needs of sections other than its own. */
export interface ClusterParts {
  readonly executor?: Section<"executor"> | undefined;
  readonly jobLogs?: Section<"jobLogs"> | undefined;
  readonly watchman?: Section<"watchman"> | undefined;
  /** By host; undefined where a host has none. */
  httpPortOf(host: string, section: "scheduler" | "executor"): number | undefined;
}

/**
 * Every host has a file of its own: an executor reads no other node than
 * itself, and the slots of the others depend on their hardware.
 */
export function clusterFile(
  section: Section<"cluster">,
  context: HostContext,
  parts: ClusterParts,
): readonly Resource[] {
  const { lookAhead, lease, renewEvery, stopEarly, grace, isolation, retentionMonths } = section.value;
  const schedulers = context.hostsWith("scheduler");
  const executors = context.hostsWith("executor");
  const daemons = ["scheduler", "executor", "watchman"] as const;
  if (!daemons.some((role) => context.roles.has(role)) || schedulers.length === 0 || executors.length === 0)
    return [];
  const slots = parts.executor && planSlots(parts.executor, context);
  const leases = [
    `lease: ${formatDuration(lease)}`,
    `renewEvery: ${formatDuration(renewEvery)}`,
    `stopEarly: ${formatDuration(stopEarly)}`,
  ];
  const node = (name: string, rest: readonly string[]) => [
    `      - name: ${name}`,
    ...rest.map((line) => `        ${line}`),
  ];
  const http = (host: string, role: "scheduler" | "executor") => {
    const port = parts.httpPortOf(host, role);
    const found = context.hosts.find((one) => one.host.name === host)!.host;
    const address = context.addressOf(found);
    const place = isKnown(address) ? address.known : found.target.address;
    // Its own daemon listens everywhere: the virtual address and this host's own checks reach it, too.
    const listen = host !== context.host.name ? place : place.includes(":") ? "::" : "0.0.0.0";
    return port === undefined ? [] : [`http: { address: ${JSON.stringify(listen)}, port: ${port} }`];
  };
  const mine = executors.filter(({ name }) => name === context.host.name);
  const shown = mine.length > 0 ? mine : executors;
  // Drills run as the executor's own user: no scope, no list of users.
  const control = controlSlotsOf(parts.watchman, context);
  // What cannot be an address is told where keepalived is set up.
  const virtualIp = context.roles.has("virtualIp") ? context.text("virtualIp") : undefined;
  const virtualAddress = virtualIp?.value.replace(/\/\d+$/, "");
  const isAddress = virtualAddress !== undefined && isIP(virtualAddress) !== 0;
  const lines = [
    "apiVersion: escapement/v1",
    "kind: Cluster",
    "metadata:",
    `  name: ${context.clusterName}`,
    "spec:",
    "  store:",
    "    urlFile: store-url",
    "  scheduler:",
    ...leases.map((line) => `    ${line}`),
    `    lookAhead: ${formatDuration(lookAhead)}`,
    ...(isAddress ? [`    virtualAddress: ${JSON.stringify(virtualAddress)}`] : []),
    "    nodes:",
    ...schedulers.flatMap(({ name }) => node(name, http(name, "scheduler"))),
    "  executor:",
    ...leases.map((line) => `    ${line}`),
    `    grace: ${formatDuration(grace)}`,
    `    isolation: ${control > 0 ? "none" : isolation}`,
    ...(mine.length > 0
      ? []
      : ["    # How many attempts an executor takes stands in the file on its own host."]),
    "    nodes:",
    ...shown.flatMap(({ name }) =>
      node(name, [
        mine.length > 0 ? `slots: ${slotsText(slots)}` : "slots: { cpu: 1, memory: 1, io: 1 }",
        ...http(name, "executor"),
        `workDirectory: ${JSON.stringify(parts.executor?.value.workDirectory ?? `${paths.state}/work`)}`,
      ]),
    ),
    ...(control > 0
      ? node(context.host.name, [
          `slots: { cpu: 0, memory: 0, io: 0, control: ${control} }`,
          `workDirectory: ${JSON.stringify(controllerWorkDirectory)}`,
        ])
      : []),
    "  records:",
    `    retentionMonths: ${retentionMonths}`,
    "  logs:",
    `    directory: ${JSON.stringify(parts.jobLogs?.value.directory ?? "/var/log/escapement/jobs")}`,
    ...(parts.jobLogs
      ? [`    maxFile: ${parts.jobLogs.value.maxFile}B`, `    keepFiles: ${parts.jobLogs.value.keepFiles}`]
      : []),
  ];
  const restarts = daemons
    .filter((role) => context.roles.has(role) || (role === "executor" && control > 0))
    .map((role) => ({
      unit: `escapement-${role}.service`,
      action: "try-restart" as const,
      ...(role === "scheduler" && { unless: "active-scheduler" as const }),
    }));
  return [
    linesFile(paths.clusterFile, {
      lines,
      group: toolkitUser,
      risk: "medium",
      after: ["directory:/etc/escapement"],
      restarts,
      unavailable: slots && !isKnown(slots) ? slots.unknown : undefined,
      provenance: [
        section.written("lookAhead", formatDuration(lookAhead)),
        ...(virtualIp && isAddress ? [fromSetting("cluster.virtualAddress", virtualIp)] : []),
        section.written("lease", formatDuration(lease)),
        section.written("renewEvery", formatDuration(renewEvery)),
        section.written("stopEarly", formatDuration(stopEarly)),
        section.written("grace", formatDuration(grace)),
        section.written("isolation", isolation),
        section.written("retentionMonths", retentionMonths),
        ...(slots && isKnown(slots) ? slots.known.provenance : []),
        ...(slots && !isKnown(slots)
          ? ["cpu", "memory", "io"].map((of) => notComputed(`executor.slots.${of}`, slots.unknown))
          : []),
      ],
    }),
  ];
}

function slotsText(slots: ReturnType<typeof planSlots> | undefined): string {
  const { cpu, memory, io } =
    slots && isKnown(slots) ? slots.known : ({ cpu: 0, memory: 0, io: 0 } satisfies Partial<SlotPlan>);
  return `{ cpu: ${cpu}, memory: ${memory}, io: ${io} }`;
}
