import { expect, test } from "vitest";
import type { Fact } from "../../src/base/fact.ts";
import { judgeCapacity, judgeFlushRate, judgeWriteCache } from "../../src/capacity/acceptance/judge-disk.ts";
import type { DiskFacts } from "../../src/capacity/acceptance/machine-facts.ts";
import type { Verdict } from "../../src/capacity/acceptance/verdict.ts";
import { runEscapement } from "../support/processes.ts";
import { fromText, got, none } from "./acceptance-from-text.ts";

const gibibyte = 2 ** 30;
const missing = { unknown: "not looked at" };
const disk: DiskFacts = {
  totalBytes: missing,
  hasVolatileCache: missing,
  powerLossProtection: missing,
  isTurning: missing,
  flushesPerSecond: missing,
  writeIops: missing,
};
const is = <T>(known: T): Fact<T> => ({ known });

const supply = (state: string, n = 1) => `PS${n} Status,${60 + n}h,ok,10.${n},${state}`;
const smbiosSupply = (status: string) =>
  `Handle 0x2700, DMI type 39\nSystem Power Supply\n\tName: PSU\n\tStatus: ${status}\n\tHot Replaceable: Yes\n`;
const dimm = (size: string, rated: string, runs: string, label = "Configured Memory Speed") =>
  `Memory Device\n\tSize: ${size}\n\tSpeed: ${rated}\n\t${label}: ${runs}\n`;
const two = (block: string) => `${block}\n${block}`;
const storcli = (data: object, status = "Success") =>
  JSON.stringify({ Controllers: [{ "Command Status": { Status: status }, "Response Data": data }] });
const tracking = (stratum: number, offset: string, leap: string) =>
  `7F000001,127.0.0.1,${stratum},1795973016.7,${offset},0.0,0.0,0.028,0.0,0.056,0.00001,0.000001,1.0,${leap}`;

const cases: [what: string, verdict: Verdict, status: Verdict["status"]][] = [
  [
    "two supplies present",
    fromText.powerSupplies(
      got([supply("Presence detected", 1), supply("Presence detected", 2)].join("\n")),
      none,
      2,
    ),
    "pass",
  ],
  [
    "one lost its feed, the third column still says ok",
    fromText.powerSupplies(
      got([supply("Presence detected", 1), supply("Presence detected, Power Supply AC lost", 2)].join("\n")),
      none,
      2,
    ),
    "fail",
  ],
  ["one of two present", fromText.powerSupplies(got(supply("Presence detected")), none, 2), "fail"],
  [
    "no controller, firmware says ok twice",
    fromText.powerSupplies(none, got(two(smbiosSupply("Present, OK"))), 2),
    "pass",
  ],
  [
    "no controller, firmware does not know",
    fromText.powerSupplies(none, got(two(smbiosSupply("Present, Unknown"))), 2),
    "unknown",
  ],
  [
    "no controller, firmware lists nothing",
    fromText.powerSupplies(none, got("# dmidecode 3.3\n"), 2),
    "unknown",
  ],
  [
    "no controller, firmware says critical",
    fromText.powerSupplies(none, got(two(smbiosSupply("Present, Critical"))), 2),
    "fail",
  ],
  [
    "a controller that names no presence, no firmware",
    fromText.powerSupplies(got("PS1,60h,ok,10.1,"), none, 2),
    "unknown",
  ],
  ["nothing could be read", fromText.powerSupplies(none, none, 2), "unknown"],

  [
    "modules add up",
    fromText.memory(got(two(dimm("16 GB", "2933 MT/s", "2933 MT/s"))), none, 32 * gibibyte),
    "pass",
  ],
  [
    "empty slots do not count",
    fromText.memory(
      got(`${dimm("16 GB", "1 MT/s", "1 MT/s")}\n${dimm("No Module Installed", "Unknown", "Unknown")}`),
      none,
      32 * gibibyte,
    ),
    "fail",
  ],
  ["sizes in MB", fromText.memory(got(two(dimm("16384 MB", "1 MHz", "1 MHz"))), none, 32 * gibibyte), "pass"],
  [
    "without the table, enough is seen",
    fromText.memory(none, got("MemTotal:       34000000 kB\n"), 32 * gibibyte),
    "pass",
  ],
  [
    "without the table, a little less may be the kernel's own part",
    fromText.memory(none, got("MemTotal:       32800000 kB\n"), 32 * gibibyte),
    "unknown",
  ],
  [
    "without the table, far less is less",
    fromText.memory(none, got("MemTotal:       16000000 kB\n"), 32 * gibibyte),
    "fail",
  ],
  ["no memory read", fromText.memory(none, none, 1), "unknown"],

  ["multi-bit correction", fromText.ecc(got("\tError Correction Type: Multi-bit ECC\n"), none), "pass"],
  ["no correction", fromText.ecc(got("\tError Correction Type: None\n"), none), "fail"],
  [
    "unknown correction, but the kernel watches it",
    fromText.ecc(got("\tError Correction Type: Unknown\n"), got("mc0 mc1")),
    "pass",
  ],
  ["unknown correction", fromText.ecc(got("\tError Correction Type: Unknown\n"), none), "unknown"],

  ["rated speed", fromText.memorySpeed(got(two(dimm("16 GB", "2933 MT/s", "2933 MT/s")))), "pass"],
  ["slower than rated", fromText.memorySpeed(got(two(dimm("16 GB", "2933 MT/s", "2666 MT/s")))), "fail"],
  [
    "the older label and unit",
    fromText.memorySpeed(got(two(dimm("16 GB", "2400 MHz", "2133 MHz", "Configured Clock Speed")))),
    "fail",
  ],
  [
    "modules of two sizes",
    fromText.memorySpeed(got(`${dimm("16 GB", "1 MT/s", "1 MT/s")}\n${dimm("32 GB", "1 MT/s", "1 MT/s")}`)),
    "fail",
  ],
  ["a speed that is not told", fromText.memorySpeed(got(dimm("16 GB", "Unknown", "Unknown"))), "unknown"],

  [
    "as many NUMA nodes as sockets",
    fromText.numaNodes(
      got("processor : 0\nphysical id : 0\ncore id : 0\n\nprocessor : 1\nphysical id : 1\ncore id : 0\n"),
      got("0-1\n"),
    ),
    "pass",
  ],
  [
    "two sockets, one node: interleaved by the firmware",
    fromText.numaNodes(
      got("processor : 0\nphysical id : 0\ncore id : 0\n\nprocessor : 1\nphysical id : 1\ncore id : 0\n"),
      got("0\n"),
    ),
    "fail",
  ],
  ["sockets not told", fromText.numaNodes(got("processor : 0\n"), got("0\n")), "unknown"],
  ["enough cores", fromText.cores(got("processor : 0\n\nprocessor : 1\n"), 2), "pass"],
  ["no processor listed", fromText.cores(got(""), 2), "unknown"],
  ["tsc", fromText.clockSource(got("tsc\n"), ["tsc"]), "pass"],
  ["hpet", fromText.clockSource(got("hpet\n"), ["tsc"]), "fail"],
  ["no clock source", fromText.clockSource(none, ["tsc"]), "unknown"],

  ["in time", fromText.clockOffset(got(tracking(3, "-0.000002746", "Normal")), 100), "pass"],
  ["a fifth of a second off", fromText.clockOffset(got(tracking(3, "-0.2", "Normal")), 100), "fail"],
  [
    "a daemon that never synchronised prints no offset, and fails all the same",
    fromText.clockOffset(
      got("00000000,,0,0.0,0.000000000,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised"),
      100,
    ),
    "fail",
  ],
  ["something else", fromText.clockOffset(got("506 Cannot talk to daemon"), 100), "unknown"],
  ["no chronyc", fromText.clockOffset(none, 100), "unknown"],
  ["UTC by another name", fromText.timeZone(got("Etc/UTC"), "UTC"), "pass"],
  ["another zone", fromText.timeZone(got("Asia/Shanghai"), "UTC"), "fail"],
  ["no zone", fromText.timeZone(none, "UTC"), "unknown"],

  ["no volatile cache", judgeWriteCache({ ...disk, hasVolatileCache: is(false) }), "pass"],
  [
    "a write-back cache may be protected: nobody can see that",
    judgeWriteCache({ ...disk, hasVolatileCache: is(true) }),
    "unknown",
  ],
  [
    "fast flushes",
    judgeFlushRate({ ...disk, flushesPerSecond: is(9_000), isTurning: is(false) }, 1_000),
    "pass",
  ],
  ["slow flushes", judgeFlushRate({ ...disk, flushesPerSecond: is(90), isTurning: is(true) }, 1_000), "fail"],
  [
    "a turning disk that is too fast to be true",
    judgeFlushRate({ ...disk, flushesPerSecond: is(9_000), isTurning: is(true) }, 1_000),
    "fail",
  ],
  ["flushes not measured", judgeFlushRate(disk, 1), "unknown"],
  ["room", judgeCapacity({ ...disk, totalBytes: is(2e12) }, 1e12), "pass"],
  ["too little room", judgeCapacity({ ...disk, totalBytes: is(5e11) }, 1e12), "fail"],

  [
    "capacitor optimal",
    fromText.raidCache(
      got(storcli({ "VD LIST": [{ Cache: "RWBD" }], Cachevault_Info: [{ State: "Optimal" }] })),
      none,
      none,
    ),
    "pass",
  ],
  [
    "battery degraded",
    fromText.raidCache(got(storcli({ BBU_Info: [{ State: "Failed" }] })), none, none),
    "fail",
  ],
  [
    "caches even with a bad battery",
    fromText.raidCache(
      got(storcli({ "VD LIST": [{ Cache: "RAWBD" }], BBU_Info: [{ State: "Optimal" }] })),
      none,
      none,
    ),
    "fail",
  ],
  ["neither capacitor nor battery", fromText.raidCache(got(storcli({ "VD LIST": [] })), none, none), "fail"],
  ["a tool that prints nonsense", fromText.raidCache(got("Segmentation fault"), none, none), "unknown"],
  [
    "another maker's controller, battery ok",
    fromText.raidCache(
      none,
      got(
        "Smart Array P408i-a\n   Controller Status: OK\n   No-Battery Write Cache: Disabled\n   Battery/Capacitor Status: OK\n",
      ),
      none,
    ),
    "pass",
  ],
  [
    "it caches without a battery",
    fromText.raidCache(
      none,
      got(
        "Smart Array P408i-a\n   Controller Status: OK\n   No-Battery Write Cache: Enabled\n   Battery/Capacitor Status: OK\n",
      ),
      none,
    ),
    "fail",
  ],
  ["a controller without its tool", fromText.raidCache(none, none, got("0000:02:00.0")), "unknown"],
  ["no controller on the bus", fromText.raidCache(none, none, got("")), "fail"],
  ["the bus not readable", fromText.raidCache(none, none, none), "unknown"],

  ["a fast link", fromText.networkSpeed(got("lo 1 -\neth0 1 10000\neth1 0 25000"), 10), "pass"],
  ["only a link that is down is fast", fromText.networkSpeed(got("eth0 1 1000\neth1 0 25000"), 10), "fail"],
  ["a link that does not tell", fromText.networkSpeed(got("eth0 1 -1"), 10), "unknown"],
  ["no link", fromText.networkSpeed(got("lo 1 -"), 10), "unknown"],
];
test.each(cases)("%s", (_, verdict, status) => {
  expect(verdict).toMatchObject({ status });
  expect(verdict.observed.length).toBeGreaterThan(3);
});

test("on this machine every test gives a verdict, and what is missing here is unknown, not passed", {
  timeout: 120_000,
}, async () => {
  const run = await runEscapement(["capacity", "accept", "--role", "record-store", "--json"]);
  const { counts, results } = JSON.parse(run.stdout);
  expect(counts.pass + counts.fail + counts.unknown).toBe(results.length);
  expect(run.code).toBe(counts.fail > 0 ? 1 : counts.unknown > 0 ? 5 : 0);
  for (const one of results) expect(one.observed).not.toBe("");
  expect(results.find(({ check }: { check: string }) => check === "flush-rate").observed).toMatch(
    /flushes a second|not installed|no rate/,
  );
});
