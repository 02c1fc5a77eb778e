/**
 * Everything that is read about one host. Sizes in bytes, times in seconds,
 * memory speeds in MT/s; every field is a fact: known, or unknown with the
 * reason. `parseGathered` (gathered.ts) makes one of the gather script's
 * output; profiles and findings read it.
 */
import type { Fact, ListFact } from "../base/fact.ts";
import type { ClockFacts } from "./clock-facts.ts";

export interface HostFacts {
  /** Known where the host's reply arrived to its last line; else what is wrong with it. */
  readonly isComplete: Fact<true>;
  /** The name the host gives itself. */
  readonly hostName: Fact<string>;
  /** Whether the facts were read as root; much of the firmware's table is not readable otherwise. */
  readonly asRoot: Fact<boolean>;
  readonly os: OsFacts;
  readonly cpu: CpuFacts;
  readonly memory: MemoryFacts;
  readonly disks: ListFact<DiskFacts>;
  readonly mdArrays: ListFact<MdArray>;
  readonly raid: ListFact<RaidController>;
  /** The drives behind RAID controllers, which hide them from the kernel. */
  readonly raidDisks: ListFact<RaidDiskFacts>;
  readonly power: PowerFacts;
  readonly nics: ListFact<NicFacts>;
  readonly bonds: ListFact<BondFacts>;
  readonly clock: ClockFacts;
  /** By name, for example "vm.swappiness"; the value as the kernel prints it. */
  readonly sysctl: Readonly<Record<string, Fact<string>>>;
  /** The mode of transparent huge pages. */
  readonly transparentHugePages: Fact<"always" | "madvise" | "never">;
}

export interface OsFacts {
  /** ID of os-release: "debian". */
  readonly id: Fact<string>;
  /** VERSION_ID of os-release: "12". */
  readonly version: Fact<string>;
  /** Release of the kernel: "6.1.0-18-amd64". */
  readonly kernel: Fact<string>;
  /** As uname says it: "x86_64", "aarch64". */
  readonly architecture: Fact<string>;
  readonly systemdVersion: Fact<number>;
  /** "none" on bare metal; else what systemd-detect-virt or lscpu names: "kvm", "systemd-nspawn". */
  readonly virtualization: Fact<string>;
  readonly bootId: Fact<string>;
}

export interface CpuFacts {
  readonly model: Fact<string>;
  readonly sockets: Fact<number>;
  /** Physical cores of all sockets. */
  readonly cores: Fact<number>;
  /** Processors that the kernel schedules on. */
  readonly threads: Fact<number>;
  readonly numaNodes: ListFact<NumaNode>;
}

export interface NumaNode {
  readonly id: number;
  readonly cpus: readonly number[];
  readonly memoryBytes: Fact<number>;
}

export type ErrorCorrection = "none" | "parity" | "single-bit" | "multi-bit" | "crc";

export interface MemoryFacts {
  /** What the kernel can use (MemTotal): a little less than what is plugged in. */
  readonly totalBytes: Fact<number>;
  readonly swapBytes: Fact<number>;
  readonly ecc: Fact<ErrorCorrection>;
  /** Modules that are plugged in. */
  readonly dimms: ListFact<Dimm>;
  readonly emptySlots: Fact<number>;
}

export interface Dimm {
  readonly locator: string;
  readonly bank: string;
  readonly sizeBytes: number;
  /** "DDR4". */
  readonly kind: Fact<string>;
  readonly ratedMtps: Fact<number>;
  readonly configuredMtps: Fact<number>;
  readonly partNumber: Fact<string>;
  /** 72 over 64 is a module with error correction. */
  readonly totalWidthBits: Fact<number>;
  readonly dataWidthBits: Fact<number>;
}

export type DiskMedia = "hdd" | "ssd" | "nvme" | "virtual";

export interface DiskFacts {
  /** Kernel name without /dev: "sda", "nvme0n1". */
  readonly name: string;
  readonly sizeBytes: Fact<number>;
  readonly model: Fact<string>;
  /** "sata", "sas", "nvme", "virtio". */
  readonly transport: Fact<string>;
  readonly rotational: Fact<boolean>;
  readonly media: Fact<DiskMedia>;
  /** As the kernel sees the device. */
  readonly writeCache: Fact<"write back" | "write through">;
  /** The I/O scheduler in use: "none", "mq-deadline". */
  readonly scheduler: Fact<string>;
  /** true: what was acknowledged survives a power cut, by evidence; false: the protection is there and broken, or known absent. */
  readonly powerLossProtection: Fact<boolean>;
  /** Energy that the capacitors of an NVMe drive hold; 100: what it must hold when it is new. */
  readonly capacitorPercent: Fact<number>;
  /** Of the disk, its partitions, and what is built on them. */
  readonly mountPoints: readonly string[];
  readonly health: DiskHealth;
}

/** `name` is what smartctl is told: "megaraid,5 /dev/bus/0". */
export type RaidDiskFacts = Pick<
  DiskFacts,
  "name" | "model" | "sizeBytes" | "media" | "powerLossProtection" | "capacitorPercent" | "health"
>;

export interface DiskHealth {
  /** The drive's own verdict on itself. */
  readonly passed: Fact<boolean>;
  /** What stands against the drive, in words; empty and known: nothing does. */
  readonly problems: ListFact<string>;
  /** Wear of flash, percent of the rated life; may pass 100. */
  readonly percentUsed: Fact<number>;
  readonly powerOnHours: Fact<number>;
}

export interface MdArray {
  readonly name: string;
  /** "raid1". */
  readonly level: Fact<string>;
  readonly devices: readonly string[];
  readonly wanted: Fact<number>;
  readonly working: Fact<number>;
  readonly failed: readonly string[];
}

/** What happens to writes of one logical drive. */
export interface RaidVolume {
  readonly name: string;
  readonly level: Fact<string>;
  readonly isHealthy: Fact<boolean>;
  /** "write back" falls to write through when the battery is bad; "always write back" does not. */
  readonly cachePolicy: Fact<"write through" | "write back" | "always write back">;
}

export interface RaidController {
  readonly tool: string;
  readonly model: Fact<string>;
  readonly isHealthy: Fact<boolean>;
  /** 0: a plain host bus adapter without cache. */
  readonly cacheBytes: Fact<number>;
  /** What keeps the cache alive without mains. */
  readonly backup: Fact<"battery" | "capacitor" | "none">;
  readonly backupIsGood: Fact<boolean>;
  /** The state in the tool's own words. */
  readonly backupState: Fact<string>;
  /** When the battery next tests itself, with the cache in write through; as printed. */
  readonly nextLearn: Fact<string>;
  /** Writes are cached even while the backup is missing or bad. */
  readonly cachesWithoutBackup: Fact<boolean>;
  readonly volumes: ListFact<RaidVolume>;
}

export interface PowerSupply {
  readonly name: string;
  readonly isPresent: Fact<boolean>;
  /** Mains reach it. */
  readonly hasInput: Fact<boolean>;
  readonly isHealthy: Fact<boolean>;
  readonly capacityWatts: Fact<number>;
}

export interface PowerFacts {
  /** The firmware's table often leaves supplies out and does not watch their feeds. */
  readonly source: "management controller" | "firmware table" | "nothing";
  readonly supplies: ListFact<PowerSupply>;
  /** What the management controller itself says: "Fully Redundant". */
  readonly redundancyStated: Fact<string>;
  /** Most that was drawn, where a meter tells. */
  readonly peakWatts: Fact<number>;
}

export interface NicFacts {
  readonly name: string;
  /** Megabits a second. */
  readonly speedMbps: Fact<number>;
  readonly hasCarrier: Fact<boolean>;
  readonly numaNode: Fact<number>;
  readonly macAddress: Fact<string>;
  /** false: a bridge, bond, tunnel or the like. */
  readonly isPhysical: Fact<boolean>;
}

export interface BondFacts {
  readonly name: string;
  readonly mode: Fact<string>;
  readonly legs: ListFact<BondLeg>;
}

export interface BondLeg {
  readonly name: string;
  readonly isUp: Fact<boolean>;
  readonly speedMbps: Fact<number>;
}
