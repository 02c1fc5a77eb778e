/** A drill in words: what is done, what must be seen, how the host comes back. */
import { formatBytes } from "../../base/bytes.ts";
import { formatDuration } from "../../base/duration.ts";
import type { DrillFault, DrillHold, DrillProof, DrillRole, ProofKind } from "../../spec/drill-definition.ts";

const roleNames: Readonly<Record<DrillRole, string>> = {
  executor: "an executor",
  "scheduler-leader": "the leading scheduler",
  "scheduler-standby": "a standby scheduler",
  "record-store": "the record store",
};

const unitNames: Readonly<Record<DrillRole, string>> = {
  executor: "the executor",
  "scheduler-leader": "the scheduler",
  "scheduler-standby": "the scheduler",
  "record-store": "PostgreSQL",
};

export function roleText(role: DrillRole): string {
  return roleNames[role];
}

/** What is done, beginning with a verb. */
export function faultText(fault: DrillFault, role: DrillRole): string {
  const unit = unitNames[role];
  switch (fault.kind) {
    case "kill":
      return `kill -9 of ${unit}${fault.restart === "suppressed" ? ", kept from starting again" : ""}`;
    case "stop":
      return `stop ${unit}${fault.restart === "suppressed" ? ", kept from starting again" : ""}`;
    case "pause":
      return `stand ${unit} still (SIGSTOP)`;
    case "cut": {
      const keep = ["the controller", ...fault.keep.map((part) => `the ${part}`)].join(" and ");
      const how = fault.direction === "both" ? "in and out" : "in, while what goes out still leaves";
      return `drop all packets ${how}, but for ${keep}`;
    }
    case "clock": {
      const way = fault.offsetSeconds > 0 ? "ahead" : "back";
      return `set the clock ${formatDuration(Math.abs(fault.offsetSeconds) * 1_000)} ${way}`;
    }
    case "power":
      return "reset the host without a shutdown";
    case "fill-disk":
      return `fill the file system of ${fault.path} up to ${formatBytes(fault.reserveBytes)}`;
    case "memory-limit":
      return `limit the memory of ${unit} to ${formatBytes(fault.limitBytes)}`;
  }
}

/** How the host comes back without anybody's help. */
export function wayBackText(fault: DrillFault): string {
  switch (fault.kind) {
    case "kill":
    case "stop":
      return fault.restart === "suppressed"
        ? "the host lets the unit start again and starts it"
        : "systemd starts the unit again";
    case "pause":
      return "the host lets the process go on (SIGCONT)";
    case "cut":
      return "the kernel lets the drops run out; the host takes its own table away";
    case "clock":
      return "the host sets the clock by the time since its boot, then starts its time daemon again";
    case "power":
      return "the host boots";
    case "fill-disk":
      return "the host removes the file; after a reboot, too";
    case "memory-limit":
      return "the host takes its limit away and starts the unit if it is down";
  }
}

export function holdText(hold: DrillHold): string {
  if ("ms" in hold) return formatDuration(hold.ms);
  const least = hold.atLeastMs > 0 ? `, at least ${formatDuration(hold.atLeastMs)}` : "";
  return `${hold.times} × ${hold.of}${least}`;
}

const seen: Readonly<Record<ProofKind, string>> = {
  "process-gone": "the process of before is gone",
  "process-stopped": "the process stands still",
  "unit-down": "the unit is down",
  "packets-dropped": "packets are dropped",
  unreachable: "it does not answer",
  "clock-offset": "its clock is off",
  rebooted: "it has booted anew",
  "disk-full": "the disk is full",
  "memory-limited": "the limit holds",
  "lease-ended": "its lease has ended",
  "leader-moved": "another one leads",
  "address-moved": "the virtual address, if it is there before, is taken over",
  "store-gone": "the record store does not answer",
};

const observers = {
  target: "the host itself",
  "another-host": "another host",
  controller: "the controller",
  records: "the records",
} as const;

export function proofText({ see, from }: DrillProof): string {
  return `${seen[see]}, seen by ${observers[from]}`;
}
