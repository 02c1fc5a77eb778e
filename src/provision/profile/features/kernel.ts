/** Memory, dirty pages, disks and limits. In a container the kernel is that of the machine below and is not touched. */
import { formatBytes } from "../../../base/bytes.ts";
import { type Fact, isKnown } from "../../../base/fact.ts";
import type { Provenance, Resource } from "../../resource.ts";
import { computed, type HostContext, notComputed } from "../host-context.ts";
import { linesFile, sysctl, unit } from "../make-resource.ts";
import type { Section } from "../resolved-profile.ts";
import { unitValidator } from "../unit-validator.ts";
import type { Feature } from "./feature.ts";

const hugePages = "/sys/kernel/mm/transparent_hugepage/enabled";
const ioRule = "/etc/udev/rules.d/60-escapement-io.rules";

export const kernel: Feature<"kernel"> = (section, context) => [
  ...sysctls(section, context),
  ...transparentHugePages(section, context),
  ...ioScheduler(section, context),
  ...limits(section),
];

function needsVm(context: HostContext, what: string): string | undefined {
  return context.container === undefined ? undefined : `needs-vm: ${context.container} cannot set ${what}`;
}

function sysctls(section: Section<"kernel">, context: HostContext): readonly Resource[] {
  const { value } = section;
  const resources: Resource[] = [];
  const set = (key: string, to: string | number, provenance: readonly Provenance[], missing?: string) => {
    // Even where a container has a network of its own, /proc/sys/net is often not its to write.
    const unavailable = missing ?? needsVm(context, key);
    resources.push(sysctl(key, to, { provenance, unavailable }));
  };
  set("vm.swappiness", value.swappiness, [section.written("swappiness", value.swappiness)]);
  // Bytes, not percent: on a large host one percent is more than a disk writes in a second.
  set("vm.dirty_background_bytes", value.dirtyBackground, [
    section.written("dirtyBackground", formatBytes(value.dirtyBackground)),
  ]);
  set("vm.dirty_bytes", value.dirty, [section.written("dirty", formatBytes(value.dirty))]);
  set("vm.zone_reclaim_mode", value.zoneReclaim, [section.written("zoneReclaim", value.zoneReclaim)]);
  set("vm.overcommit_memory", value.overcommit, [section.written("overcommit", value.overcommit)]);
  if (value.overcommit === 2 && value.overcommitRatio !== undefined)
    set("vm.overcommit_ratio", value.overcommitRatio, [
      section.written("overcommitRatio", value.overcommitRatio),
    ]);
  minFree(section, context, set);
  numaBalancing(section, context, set);
  set("kernel.pid_max", value.pidMax, [section.written("pidMax", value.pidMax)]);
  set("net.core.somaxconn", value.listenBacklog, [section.written("listenBacklog", value.listenBacklog)]);
  const { idle, every, probes } = value.keepalive;
  set("net.ipv4.tcp_keepalive_time", idle / 1_000, [section.written("keepalive.idle", `${idle / 1_000}s`)]);
  set("net.ipv4.tcp_keepalive_intvl", every / 1_000, [
    section.written("keepalive.every", `${every / 1_000}s`),
  ]);
  set("net.ipv4.tcp_keepalive_probes", probes, [section.written("keepalive.probes", probes)]);
  return resources;
}

type Set = (key: string, to: string | number, provenance: readonly Provenance[], missing?: string) => void;

/**
 * With huge pages the kernel keeps at least 11 page blocks (2 MiB each) free in every zone, of which a
 * host has at most two and one for each node, and never more than a twentieth of its memory
 * (set_recommended_min_free_kbytes, mm/khugepaged.c). It raises a smaller value whenever they are set.
 */
function leastFreeKib({ value }: Section<"kernel">, context: HostContext, memoryBytes: number): number {
  if (value.transparentHugePages === "never") return 0;
  const nodes = isKnown(context.numaNodes) ? context.numaNodes.known.value : 1;
  return Math.min(11 * 2_048 * (2 + nodes), Math.ceil(memoryBytes / 20 / 1_024));
}

function minFree(section: Section<"kernel">, context: HostContext, set: Set): void {
  const { memory } = context;
  const share = section.value.minFreeShare;
  const bytes = isKnown(memory) ? memory.known.value : 0;
  const [kib, least] = [Math.round((bytes * share) / 1_024), leastFreeKib(section, context, bytes)];
  const wanted = Math.max(kib, least);
  const why = isKnown(memory)
    ? [
        section.written("minFreeShare", share),
        computed(
          "kernel.minFree",
          `${wanted} KiB`,
          wanted === kib
            ? `${share} of ${formatBytes(bytes)} (${memory.known.from})`
            : `${share} of ${formatBytes(bytes)} (${memory.known.from}) is ${kib} KiB, less than the kernel keeps for huge pages`,
        ),
      ]
    : [section.written("minFreeShare", share), notComputed("kernel.minFree", memory.unknown)];
  set("vm.min_free_kbytes", wanted, why, reasonIfUnknown(memory));
}

/** The kernel moves pages to the node that uses them; pointless with one node, where the setting does not even exist. */
function numaBalancing(section: Section<"kernel">, { numaNodes }: HostContext, set: Set): void {
  const wanted = section.value.numaBalancing;
  if (wanted === undefined) return;
  if (isKnown(numaNodes) && numaNodes.known.value < 2) return;
  set(
    "kernel.numa_balancing",
    wanted,
    [
      section.written("numaBalancing", wanted),
      ...(isKnown(numaNodes)
        ? [computed("kernel.numaNodes", numaNodes.known.value, `counted (${numaNodes.known.from})`)]
        : []),
    ],
    reasonIfUnknown(numaNodes),
  );
}

function reasonIfUnknown(fact: Fact<unknown>): string | undefined {
  return isKnown(fact) ? undefined : fact.unknown;
}

/** A small service at boot rather than a word for the boot loader: it holds at once, and needs no reboot. */
function transparentHugePages(section: Section<"kernel">, context: HostContext): readonly Resource[] {
  const mode = section.value.transparentHugePages;
  const name = "escapement-huge-pages.service";
  const path = `/etc/systemd/system/${name}`;
  const unavailable = needsVm(context, hugePages);
  return [
    linesFile(path, {
      lines: [
        "[Unit]",
        "Description=Transparent huge pages for those who ask",
        `ConditionPathIsReadWrite=${hugePages}`,
        "Before=escapement-executor.service postgresql.service",
        "",
        "[Service]",
        "Type=oneshot",
        "RemainAfterExit=yes",
        `ExecStart=/bin/sh -c 'echo ${mode} > ${hugePages}'`,
        "",
        "[Install]",
        "WantedBy=multi-user.target",
      ],
      restarts: [{ unit: name, action: "restart" }],
      validator: unitValidator,
      unavailable,
      provenance: [section.written("transparentHugePages", mode)],
    }),
    unit(name, { after: [`file:${path}`] }),
  ];
}

function ioScheduler(section: Section<"kernel">, context: HostContext): readonly Resource[] {
  const { flash, spinning } = section.value.ioScheduler;
  return [
    linesFile(ioRule, {
      lines: [
        "# Disks only, no partitions, no loops; NVMe and what does not turn first.",
        `ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", KERNEL=="sd[a-z]*|vd[a-z]*|nvme[0-9]*n[0-9]*", ATTR{queue/rotational}=="0", ATTR{queue/scheduler}="${flash}"`,
        `ACTION=="add|change", SUBSYSTEM=="block", ENV{DEVTYPE}=="disk", KERNEL=="sd[a-z]*|vd[a-z]*", ATTR{queue/rotational}=="1", ATTR{queue/scheduler}="${spinning}"`,
      ],
      unavailable: needsVm(context, "the I/O scheduler of a disk"),
      restarts: [{ unit: "systemd-udev-trigger.service", action: "restart" }],
      provenance: [
        section.written("ioScheduler.flash", flash),
        section.written("ioScheduler.spinning", spinning),
      ],
    }),
  ];
}

/** Services get their limits from systemd, logins from PAM; both, so that a job by hand behaves like a scheduled one. */
function limits(section: Section<"kernel">): readonly Resource[] {
  const { openFiles, processes } = section.value;
  return [
    linesFile("/etc/security/limits.d/60-escapement.conf", {
      lines: [
        `*    soft nofile ${openFiles}`,
        `*    hard nofile ${openFiles}`,
        `root soft nofile ${openFiles}`,
        `root hard nofile ${openFiles}`,
        `*    soft nproc  ${processes}`,
        `*    hard nproc  ${processes}`,
      ],
      provenance: [section.written("openFiles", openFiles), section.written("processes", processes)],
    }),
  ];
}
