/** Machines to compile profiles for: facts as a gather would give them, everything else unknown. */
import { known, unknown } from "../../../src/base/fact.ts";
import type { DiskFacts, HostFacts, NicFacts } from "../../../src/hardware/host-facts.ts";
import { noFacts } from "../../../src/provision/profile/facts-from-json.ts";

const notRead = unknown("not read in this test");

interface Machine {
  readonly virtualization: string;
  readonly sockets: number;
  readonly cores: number;
  readonly threads: number;
  readonly memoryBytes: number;
  readonly numaNodes: number;
  readonly nics: readonly string[];
  /** true: turns. */
  readonly disks: readonly boolean[];
}

export const gib = 2 ** 30;

export const machines = {
  /** A test host of two processors. */
  container: {
    virtualization: "systemd-nspawn",
    sockets: 1,
    cores: 2,
    threads: 2,
    memoryBytes: 8 * gib,
    numaNodes: 1,
    nics: ["host0"],
    disks: [],
  },
  small: {
    virtualization: "none",
    sockets: 1,
    cores: 8,
    threads: 16,
    memoryBytes: 32 * gib,
    numaNodes: 1,
    nics: ["eno1"],
    disks: [false, false],
  },
  /** Two sockets of 32 cores. */
  twoSockets: {
    virtualization: "none",
    sockets: 2,
    cores: 64,
    threads: 128,
    memoryBytes: 512 * gib,
    numaNodes: 2,
    nics: ["eno1", "eno2"],
    disks: [false, true],
  },
  /** One socket cut into eight nodes. */
  eightNodes: {
    virtualization: "none",
    sockets: 1,
    cores: 96,
    threads: 192,
    memoryBytes: 768 * gib,
    numaNodes: 8,
    nics: ["enp1s0"],
    disks: [false],
  },
} as const satisfies Record<string, Machine>;

export type MachineName = keyof typeof machines;

export function factsOf(name: MachineName): HostFacts {
  const machine: Machine = machines[name];
  return {
    ...nothingKnown(),
    os: { ...nothingKnown().os, virtualization: known(machine.virtualization) },
    cpu: {
      model: notRead,
      sockets: known(machine.sockets),
      cores: known(machine.cores),
      threads: known(machine.threads),
      numaNodes: {
        known: Array.from({ length: machine.numaNodes }, (_, id) => ({
          id,
          cpus: [],
          memoryBytes: known(machine.memoryBytes / machine.numaNodes),
        })),
      },
    },
    memory: { ...nothingKnown().memory, totalBytes: known(machine.memoryBytes) },
    disks: { known: machine.disks.map((turns, i) => disk(`sd${"abcdef"[i]}`, turns)) },
    nics: { known: machine.nics.map(nic) },
    bonds: { known: [] },
  };
}

/** A host that was reached and of which nothing could be read. */
export function nothingKnown(): HostFacts {
  return noFacts(notRead.unknown);
}

function disk(name: string, turns: boolean): DiskFacts {
  return {
    name,
    sizeBytes: notRead,
    model: notRead,
    transport: notRead,
    rotational: known(turns),
    media: notRead,
    writeCache: notRead,
    scheduler: notRead,
    powerLossProtection: notRead,
    capacitorPercent: notRead,
    mountPoints: [],
    health: { passed: notRead, problems: notRead, percentUsed: notRead, powerOnHours: notRead },
  };
}

function nic(name: string): NicFacts {
  return {
    name,
    speedMbps: notRead,
    hasCarrier: known(true),
    numaNode: notRead,
    macAddress: notRead,
    isPhysical: notRead,
  };
}
