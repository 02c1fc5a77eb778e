/** Disk: room, cache, flushes, writes; and the controller's cache. */
import { decimalBytes } from "../format.ts";
import { suspicion } from "../iops/media.ts";
import { fail, pass, passIf, type Reading, unknown, type Verdict } from "./verdict.ts";

export interface DiskReading {
  readonly totalBytes: number | undefined;
  readonly hasVolatileCache: boolean | undefined;
  readonly isTurning: boolean | undefined;
  readonly flushesPerSecond: number | undefined;
  readonly writeIops: number | undefined;
  /** Why something is missing. */
  readonly notes: readonly string[];
}

export function judgeCapacity({ totalBytes, notes }: DiskReading, leastBytes: number): Verdict {
  if (totalBytes === undefined) return unknown(notes.join("; ") || "the file system was not read");
  return passIf(totalBytes >= leastBytes, `${decimalBytes(totalBytes)} on the file system`);
}

/** A cache that the kernel calls "write back" may still be protected; only the drive's maker can say. */
export function judgeWriteCache({ hasVolatileCache, notes }: DiskReading): Verdict {
  if (hasVolatileCache === false) return pass("no volatile write cache");
  if (hasVolatileCache === true)
    return unknown(
      "the drive has a write-back cache; whether it is protected cannot be seen here: compare the flush rate, ask the maker",
    );
  return unknown(notes.join("; ") || "the kernel does not tell the drive's cache");
}

export function judgeFlushRate({ flushesPerSecond, isTurning, notes }: DiskReading, least: number): Verdict {
  if (flushesPerSecond === undefined) return unknown(notes.join("; ") || "flushes were not measured");
  const lie = suspicion(isTurning === true, flushesPerSecond, false);
  if (lie) return fail(lie);
  return passIf(flushesPerSecond >= least, `${Math.round(flushesPerSecond)} flushes a second`);
}

export function judgeWriteIops({ writeIops, notes }: DiskReading, least: number): Verdict {
  if (writeIops === undefined) return unknown(notes.join("; ") || "writes were not measured");
  return passIf(writeIops >= least, `${Math.round(writeIops)} writes a second`);
}

/**
 * @param storcli JSON of `storcli64 /call show all J` or of perccli. @param ssacli text of `ssacli ctrl all show config detail`.
 * @param controllers PCI devices of class RAID, one a line.
 */
export function judgeRaidCache(storcli: Reading, ssacli: Reading, controllers: Reading): Verdict {
  const fromStorcli = storcli.text === undefined ? undefined : judgeStorcli(storcli.text);
  if (fromStorcli) return fromStorcli;
  const fromSsacli = ssacli.text === undefined ? undefined : judgeSsacli(ssacli.text);
  if (fromSsacli) return fromSsacli;
  if (controllers.text === undefined)
    return unknown(`${storcli.reason}; ${ssacli.reason}; ${controllers.reason}`);
  if (controllers.text.trim() === "") return fail("no RAID controller is on the bus");
  return unknown(`a RAID controller is there, but its tool is not: ${storcli.reason}; ${ssacli.reason}`);
}

interface StorcliController {
  readonly "Command Status"?: { readonly Status?: string };
  readonly "Response Data"?: Readonly<Record<string, unknown>>;
}

function judgeStorcli(text: string): Verdict | undefined {
  let controllers: readonly StorcliController[];
  try {
    controllers = (JSON.parse(text) as { Controllers?: StorcliController[] }).Controllers ?? [];
  } catch {
    return unknown("the controller's tool printed no JSON");
  }
  const data = controllers
    .filter((one) => one["Command Status"]?.Status === "Success")
    .map((one) => one["Response Data"] ?? {});
  if (data.length === 0) return undefined;
  for (const one of data) {
    const volumes = rowsOf(one["VD LIST"]);
    const careless = volumes.filter(({ Cache }) => /AWB/.test(String(Cache)));
    if (careless.length > 0)
      return fail(`${careless.length} volume(s) cache writes even with a bad battery (AWB)`);
    const guards = [...rowsOf(one.Cachevault_Info), ...rowsOf(one.BBU_Info)];
    if (guards.length === 0) return fail("the controller shows neither capacitor nor battery");
    const ill = guards.filter(({ State }) => !/^(Optimal|OK)$/i.test(String(State)));
    if (ill.length > 0)
      return fail(`capacitor or battery: ${ill.map(({ State }) => String(State)).join(", ")}`);
  }
  return pass("capacitor or battery optimal, no volume caches without it");
}

function rowsOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? (value as Readonly<Record<string, unknown>>[]) : [];
}

function judgeSsacli(text: string): Verdict | undefined {
  if (!/Smart Array|Smart RAID|Controller Status/i.test(text)) return undefined;
  if (/^\s*No-Battery Write Cache:\s*Enabled/im.test(text))
    return fail("the controller caches writes without a battery (No-Battery Write Cache: Enabled)");
  const statuses = [...text.matchAll(/^\s*Battery\/Capacitor Status:\s*(.+)$/gim)].map(([, status]) =>
    status!.trim(),
  );
  if (statuses.length === 0) return fail("the controller shows neither capacitor nor battery");
  return passIf(
    statuses.every((status) => status === "OK"),
    `battery or capacitor: ${statuses.join(", ")}`,
  );
}

/** @param links name, carrier (0 or 1) and speed in Mbit/s of every network interface, one a line */
export function judgeNetworkSpeed(links: Reading, leastGigabits: number): Verdict {
  if (links.text === undefined) return unknown(links.reason);
  const up = links.text
    .trim()
    .split("\n")
    .map((line) => line.split(/\s+/))
    .filter(([name, carrier]) => name !== undefined && name !== "lo" && carrier === "1");
  const speeds = up
    .map(([name, , speed]) => ({ name, speed: Number(speed) }))
    .filter(({ speed }) => Number.isFinite(speed) && speed > 0);
  if (speeds.length === 0)
    return unknown(up.length === 0 ? "no link is up" : "no link that is up tells its speed");
  const best = speeds.reduce((most, one) => (one.speed > most.speed ? one : most));
  return passIf(best.speed >= leastGigabits * 1_000, `${best.name} at ${best.speed / 1_000} Gbit/s`);
}
