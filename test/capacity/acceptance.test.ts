import { expect, test } from "vitest";
import { judgeClockOffset, judgeTimeZone } from "../../src/capacity/acceptance/judge-clock.ts";
import {
  judgeCapacity,
  judgeFlushRate,
  judgeNetworkSpeed,
  judgeRaidCache,
  judgeWriteCache,
} from "../../src/capacity/acceptance/judge-disk.ts";
import { judgeEcc, judgeMemory, judgeMemorySpeed } from "../../src/capacity/acceptance/judge-memory.ts";
import { judgePowerSupplies } from "../../src/capacity/acceptance/judge-power.ts";
import {
  judgeClockSource,
  judgeCores,
  judgeNumaNodes,
} from "../../src/capacity/acceptance/judge-processor.ts";
import type { Reading, Verdict } from "../../src/capacity/acceptance/verdict.ts";
import { runEscapement } from "../support/processes.ts";

const got = (text: string): Reading => ({ text, reason: "" });
const none: Reading = { text: undefined, reason: "tool: not installed" };
const gibibyte = 2 ** 30;
const disk = {
  totalBytes: undefined,
  hasVolatileCache: undefined,
  isTurning: undefined,
  flushesPerSecond: undefined,
  writeIops: undefined,
  notes: [],
};

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
    judgePowerSupplies(
      got([supply("Presence detected", 1), supply("Presence detected", 2)].join("\n")),
      none,
      2,
    ),
    "pass",
  ],
  [
    "one lost its feed, the third column still says ok",
    judgePowerSupplies(
      got([supply("Presence detected", 1), supply("Presence detected, Power Supply AC lost", 2)].join("\n")),
      none,
      2,
    ),
    "fail",
  ],
  ["one of two present", judgePowerSupplies(got(supply("Presence detected")), none, 2), "fail"],
  [
    "no controller, firmware says ok twice",
    judgePowerSupplies(none, got(two(smbiosSupply("Present, OK"))), 2),
    "pass",
  ],
  [
    "no controller, firmware does not know",
    judgePowerSupplies(none, got(two(smbiosSupply("Present, Unknown"))), 2),
    "unknown",
  ],
  ["no controller, firmware lists nothing", judgePowerSupplies(none, got("# dmidecode 3.3\n"), 2), "unknown"],
  [
    "no controller, firmware says critical",
    judgePowerSupplies(none, got(two(smbiosSupply("Present, Critical"))), 2),
    "fail",
  ],
  [
    "a controller that names no presence, no firmware",
    judgePowerSupplies(got("PS1,60h,ok,10.1,"), none, 2),
    "unknown",
  ],
  ["nothing could be read", judgePowerSupplies(none, none, 2), "unknown"],

  [
    "modules add up",
    judgeMemory(got(two(dimm("16 GB", "2933 MT/s", "2933 MT/s"))), none, 32 * gibibyte),
    "pass",
  ],
  [
    "empty slots do not count",
    judgeMemory(
      got(`${dimm("16 GB", "1 MT/s", "1 MT/s")}\n${dimm("No Module Installed", "Unknown", "Unknown")}`),
      none,
      32 * gibibyte,
    ),
    "fail",
  ],
  ["sizes in MB", judgeMemory(got(two(dimm("16384 MB", "1 MHz", "1 MHz"))), none, 32 * gibibyte), "pass"],
  [
    "without the table, enough is seen",
    judgeMemory(none, got("MemTotal:       34000000 kB\n"), 32 * gibibyte),
    "pass",
  ],
  [
    "without the table, a little less may be the kernel's own part",
    judgeMemory(none, got("MemTotal:       32800000 kB\n"), 32 * gibibyte),
    "unknown",
  ],
  [
    "without the table, far less is less",
    judgeMemory(none, got("MemTotal:       16000000 kB\n"), 32 * gibibyte),
    "fail",
  ],
  ["no memory read", judgeMemory(none, none, 1), "unknown"],

  ["multi-bit correction", judgeEcc(got("\tError Correction Type: Multi-bit ECC\n"), none), "pass"],
  ["no correction", judgeEcc(got("\tError Correction Type: None\n"), none), "fail"],
  [
    "unknown correction, but the kernel watches it",
    judgeEcc(got("\tError Correction Type: Unknown\n"), got("mc0 mc1")),
    "pass",
  ],
  ["unknown correction", judgeEcc(got("\tError Correction Type: Unknown\n"), none), "unknown"],

  ["rated speed", judgeMemorySpeed(got(two(dimm("16 GB", "2933 MT/s", "2933 MT/s")))), "pass"],
  ["slower than rated", judgeMemorySpeed(got(two(dimm("16 GB", "2933 MT/s", "2666 MT/s")))), "fail"],
  [
    "the older label and unit",
    judgeMemorySpeed(got(two(dimm("16 GB", "2400 MHz", "2133 MHz", "Configured Clock Speed")))),
    "fail",
  ],
  [
    "modules of two sizes",
    judgeMemorySpeed(got(`${dimm("16 GB", "1 MT/s", "1 MT/s")}\n${dimm("32 GB", "1 MT/s", "1 MT/s")}`)),
    "fail",
  ],
  ["a speed that is not told", judgeMemorySpeed(got(dimm("16 GB", "Unknown", "Unknown"))), "unknown"],

  [
    "as many NUMA nodes as sockets",
    judgeNumaNodes(
      got("processor : 0\nphysical id : 0\ncore id : 0\n\nprocessor : 1\nphysical id : 1\ncore id : 0\n"),
      got("0-1\n"),
    ),
    "pass",
  ],
  [
    "two sockets, one node: interleaved by the firmware",
    judgeNumaNodes(
      got("processor : 0\nphysical id : 0\ncore id : 0\n\nprocessor : 1\nphysical id : 1\ncore id : 0\n"),
      got("0\n"),
    ),
    "fail",
  ],
  ["sockets not told", judgeNumaNodes(got("processor : 0\n"), got("0\n")), "unknown"],
  ["enough cores", judgeCores(got("processor : 0\n\nprocessor : 1\n"), 2), "pass"],
  ["no processor listed", judgeCores(got(""), 2), "unknown"],
  ["tsc", judgeClockSource(got("tsc\n"), ["tsc"]), "pass"],
  ["hpet", judgeClockSource(got("hpet\n"), ["tsc"]), "fail"],
  ["no clock source", judgeClockSource(none, ["tsc"]), "unknown"],

  ["in time", judgeClockOffset(got(tracking(3, "-0.000002746", "Normal")), 100), "pass"],
  ["a fifth of a second off", judgeClockOffset(got(tracking(3, "-0.2", "Normal")), 100), "fail"],
  [
    "a daemon that never synchronised prints no offset, and fails all the same",
    judgeClockOffset(
      got("00000000,,0,0.0,0.000000000,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised"),
      100,
    ),
    "fail",
  ],
  ["something else", judgeClockOffset(got("506 Cannot talk to daemon"), 100), "unknown"],
  ["no chronyc", judgeClockOffset(none, 100), "unknown"],
  ["UTC by another name", judgeTimeZone(got("Etc/UTC"), "UTC"), "pass"],
  ["another zone", judgeTimeZone(got("Asia/Shanghai"), "UTC"), "fail"],
  ["no zone", judgeTimeZone(none, "UTC"), "unknown"],

  ["no volatile cache", judgeWriteCache({ ...disk, hasVolatileCache: false }), "pass"],
  [
    "a write-back cache may be protected: nobody can see that",
    judgeWriteCache({ ...disk, hasVolatileCache: true }),
    "unknown",
  ],
  ["fast flushes", judgeFlushRate({ ...disk, flushesPerSecond: 9_000, isTurning: false }, 1_000), "pass"],
  ["slow flushes", judgeFlushRate({ ...disk, flushesPerSecond: 90, isTurning: true }, 1_000), "fail"],
  [
    "a turning disk that is too fast to be true",
    judgeFlushRate({ ...disk, flushesPerSecond: 9_000, isTurning: true }, 1_000),
    "fail",
  ],
  ["flushes not measured", judgeFlushRate(disk, 1), "unknown"],
  ["room", judgeCapacity({ ...disk, totalBytes: 2e12 }, 1e12), "pass"],
  ["too little room", judgeCapacity({ ...disk, totalBytes: 5e11 }, 1e12), "fail"],

  [
    "capacitor optimal",
    judgeRaidCache(
      got(storcli({ "VD LIST": [{ Cache: "RWBD" }], Cachevault_Info: [{ State: "Optimal" }] })),
      none,
      none,
    ),
    "pass",
  ],
  ["battery degraded", judgeRaidCache(got(storcli({ BBU_Info: [{ State: "Failed" }] })), none, none), "fail"],
  [
    "caches even with a bad battery",
    judgeRaidCache(
      got(storcli({ "VD LIST": [{ Cache: "RAWBD" }], BBU_Info: [{ State: "Optimal" }] })),
      none,
      none,
    ),
    "fail",
  ],
  ["neither capacitor nor battery", judgeRaidCache(got(storcli({ "VD LIST": [] })), none, none), "fail"],
  ["a tool that prints nonsense", judgeRaidCache(got("Segmentation fault"), none, none), "unknown"],
  [
    "another maker's controller, battery ok",
    judgeRaidCache(
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
    judgeRaidCache(
      none,
      got(
        "Smart Array P408i-a\n   Controller Status: OK\n   No-Battery Write Cache: Enabled\n   Battery/Capacitor Status: OK\n",
      ),
      none,
    ),
    "fail",
  ],
  ["a controller without its tool", judgeRaidCache(none, none, got("0000:02:00.0")), "unknown"],
  ["no controller on the bus", judgeRaidCache(none, none, got("")), "fail"],
  ["the bus not readable", judgeRaidCache(none, none, none), "unknown"],

  ["a fast link", judgeNetworkSpeed(got("lo 1 -\neth0 1 10000\neth1 0 25000"), 10), "pass"],
  ["only a link that is down is fast", judgeNetworkSpeed(got("eth0 1 1000\neth1 0 25000"), 10), "fail"],
  ["a link that does not tell", judgeNetworkSpeed(got("eth0 1 -1"), 10), "unknown"],
  ["no link", judgeNetworkSpeed(got("lo 1 -"), 10), "unknown"],
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
