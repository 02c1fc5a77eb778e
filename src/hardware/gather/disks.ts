/** Brings together what the kernel, lsblk, smartctl and nvme say about each disk. */
import {
  type Fact,
  factValue,
  firstKnown,
  isKnown,
  known,
  type ListFact,
  listFact,
  mapFact,
  seenOf,
  unknown,
} from "../../base/fact.ts";
import type { DiskFacts, DiskMedia } from "../host-facts.ts";
import { parseBlockQueues, type QueueFacts } from "../parse/device-files.ts";
import { type BlockDevice, parseLsblk } from "../parse/lsblk.ts";
import { type NvmeFacts, parseNvme } from "../parse/nvme.ts";
import type { OcpFacts } from "../parse/nvme-ocp.ts";
import { parseSmartctl, type SmartctlFacts } from "../parse/smartctl.ts";
import type { SectionReader } from "./section-reader.ts";

export function disksOf(reader: SectionReader): ListFact<DiskFacts> {
  const output = reader.output("block");
  if (typeof output === "string") return unknown(output);
  const tree = reader.read("lsblk", parseLsblk);
  const disks = parseBlockQueues(output)
    .filter((queue) => !queue.path.includes("/devices/virtual/") && !/^(dm-|md\d)/.test(queue.name))
    .map((queue) => {
      const name = queue.name;
      const device = seenOf(tree).find((one) => one.name === name);
      const smart = reader.read(`smartctl:${name}`, parseSmartctl);
      const id = reader.read(`nvme-id:${name}`, parseNvme);
      const log = reader.read(`nvme-smart:${name}`, parseNvme);
      const { ocp } = reader.read(`nvme-ocp:${name}`, parseNvme);
      return toDisk(queue, device, "unknown" in tree ? tree.unknown : "", { smart, id, log, ocp });
    });
  return listFact(disks, output.isWhole, "the list of disks was cut");
}

/** What the tools say about one drive. */
interface DriveOutputs {
  readonly smart: SmartctlFacts;
  readonly id: NvmeFacts;
  readonly log: NvmeFacts;
  readonly ocp: OcpFacts;
}

function toDisk(
  queue: QueueFacts,
  device: BlockDevice | undefined,
  noDevice: string,
  { smart, id, log, ocp }: DriveOutputs,
): DiskFacts {
  const missing = unknown(noDevice || `lsblk does not list ${queue.name}`);
  const isNvme = queue.name.startsWith("nvme");
  const model = firstKnown(...(isNvme ? [id.model] : []), smart.model, device?.model ?? missing);
  const media = mediaOf(queue, factValue(model) ?? "");
  return {
    name: queue.name,
    sizeBytes: queue.sizeBytes,
    model,
    transport: isNvme ? known("nvme") : (device?.transport ?? missing),
    rotational: queue.rotational,
    media,
    writeCache: queue.writeCache,
    scheduler: queue.scheduler,
    powerLossProtection: protectionOf(queue, media, { smart, id, ocp }),
    capacitorPercent: isNvme ? ocp.capacitorPercent : unknown("only NVMe drives are asked for it"),
    mountPoints: device?.mountPoints ?? [],
    health: {
      passed: isNvme ? firstKnown(smart.health.passed, log.health.passed) : smart.health.passed,
      problems: problemsOf(smart, isNvme ? { log, ocp } : undefined),
      percentUsed: isNvme
        ? firstKnown(smart.health.percentUsed, log.health.percentUsed)
        : smart.health.percentUsed,
      powerOnHours: isNvme
        ? firstKnown(smart.health.powerOnHours, log.health.powerOnHours)
        : smart.health.powerOnHours,
    },
  };
}

/** Two tools may look at the same drive: what either holds against it counts, and what is in the page of OCP. */
function problemsOf(
  smart: SmartctlFacts,
  nvme: Pick<DriveOutputs, "log" | "ocp"> | undefined,
): ListFact<string> {
  const lists = [smart.health.problems, ...(nvme ? [nvme.log.health.problems] : [])];
  const all = [...lists, ...(nvme ? [nvme.ocp.problems] : [])];
  const seen = [...new Set(all.flatMap((list) => [...seenOf(list)]))];
  if (lists.some((list) => "known" in list)) return known(seen);
  return listFact(seen, false, lists.map((list) => ("unknown" in list ? list.unknown : "")).join("; "));
}

const virtualModels = /\b(QEMU|VBOX|VMware|Virtual (disk|HD)|Google PersistentDisk|Amazon Elastic)/i;
const raidModels = /\b(PERC|MegaRAID|ServeRAID|PRAID|AVAGO|LSI|LOGICAL VOLUME|MR\d{3,4}|Smart Array|ASR\d)/i;

function mediaOf(queue: QueueFacts, model: string): Fact<DiskMedia> {
  if (/^(vd|xvd)/.test(queue.name) || virtualModels.test(model)) return known("virtual");
  if (queue.name.startsWith("nvme")) return known("nvme");
  if (raidModels.test(model)) return unknown("it is a volume of a RAID controller, which hides its drives");
  return mapFact(queue.rotational, (spins): DiskMedia => (spins ? "hdd" : "ssd"), "");
}

/**
 * Evidence that what a drive acknowledged survives a power cut: no cache that
 * needs power, or capacitors that the drive tests. A cache in write back alone
 * is no evidence against it: the drive may protect it without saying so.
 */
function protectionOf(
  queue: QueueFacts,
  media: Fact<DiskMedia>,
  { smart, id, ocp }: Pick<DriveOutputs, "smart" | "id" | "ocp">,
): Fact<boolean> {
  if (factValue(media) === "virtual") return unknown("a virtual disk: only the host below knows");
  if (isKnown(smart.powerLossProtection)) return smart.powerLossProtection;
  const isThrough = factValue(queue.writeCache) === "write through";
  if (queue.name.startsWith("nvme")) {
    // Whatever else is said: without charge nothing is protected.
    if (factValue(ocp.capacitorPercent) === 0) return known(false);
    // The kernel's word alone may have been written there by hand, so the drive must say it too.
    if (isThrough && factValue(id.volatileWriteCache) === false) return known(true);
    if (isKnown(ocp.powerLossProtection)) return ocp.powerLossProtection;
    if (isKnown(id.volatileWriteCache))
      return unknown("the drive has a cache that needs power and does not say whether it is protected");
    return id.volatileWriteCache;
  }
  if (isThrough && factValue(smart.writeCacheEnabled) === false) return known(true);
  if (isKnown(smart.writeCacheEnabled))
    return unknown("the drive caches writes and counts no test of capacitors");
  return smart.powerLossProtection;
}
