/** The acceptance tests on facts, as a host that is asked over the network gives them. */
import { expect, test } from "vitest";
import type { Fact } from "../../src/base/fact.ts";
import {
  type AcceptanceRequirement,
  acceptMachine,
  unknownDisk,
} from "../../src/capacity/acceptance/accept-machine.ts";
import {
  judgeNetworkSpeed,
  judgeRaidCache,
  judgeWriteCache,
} from "../../src/capacity/acceptance/judge-disk.ts";
import type { DiskFacts, MachineFacts, RaidFacts } from "../../src/capacity/acceptance/machine-facts.ts";
import type { Verdict } from "../../src/capacity/acceptance/verdict.ts";
import type { HostFacts } from "../../src/hardware/host-facts.ts";
import { factsOf } from "./acceptance-from-text.ts";

const gibibyte = 2 ** 30;
const missing = { unknown: "not looked at" };
const disk = unknownDisk("not looked at");
const is = <T>(known: T): Fact<T> => ({ known });

const tested = (check: string, more: object = {}, limit?: number): AcceptanceRequirement => ({
  id: check,
  text: check,
  accept: { check, ...more } as unknown as AcceptanceRequirement["accept"],
  limit:
    limit === undefined
      ? undefined
      : {
          label: "",
          value: limit,
          unit: "count",
          formula: "",
          inputs: {},
          source: { id: "input", kind: "", text: "" },
        },
});
const everyTest: readonly AcceptanceRequirement[] = [
  tested("power-supplies", { atLeast: 2 }),
  tested("cores", { atLeast: "cores" }, 1),
  tested("memory", { atLeast: "memoryBytes" }, 1),
  tested("memory-ecc"),
  tested("memory-speed"),
  tested("numa-nodes"),
  tested("disk-capacity", { atLeast: "diskBytes" }, 1),
  tested("write-cache"),
  tested("flush-rate", { atLeast: "flushesPerSecond" }, 1),
  tested("write-iops", { atLeast: "writeIops" }, 1),
  tested("raid-cache"),
  tested("network-speed", { atLeast: "networkGigabits" }, 1),
  tested("clock-source", { oneOf: ["tsc"] }),
  tested("clock-offset", { atMost: 100 }),
  tested("time-zone", { equals: "UTC" }),
  tested("cores", { atLeast: "cores" }),
  tested("a test of tomorrow"),
];

test("of a machine that tells nothing, nothing passes and nothing fails", () => {
  const results = acceptMachine(everyTest, factsOf({}));
  expect(results.map(({ check }) => check)).toEqual(everyTest.map(({ accept }) => accept.check));
  for (const { status, observed } of results) {
    expect(status).toBe("unknown");
    expect(observed).not.toBe("");
  }
});

test("facts that were asked for over the network fit as they are", () => {
  const supply = (name: string) => ({
    name,
    isPresent: is(true),
    hasInput: is(true),
    isHealthy: is(true),
    capacityWatts: missing,
  });
  const module = { sizeBytes: 16 * gibibyte, ratedMtps: is(3_200), configuredMtps: is(3_200) };
  const part = {
    cpu: { sockets: is(1), cores: is(8), numaNodes: { known: [{ id: 0, cpus: [0], memoryBytes: missing }] } },
    power: {
      supplies: { known: [supply("PS1"), supply("PS2")] },
      redundancyStated: missing,
      peakWatts: missing,
    },
    raid: { unknown: "storcli64: cut", seen: [] },
  };
  // Compiles only while the two shapes agree.
  const asAsked = (facts: HostFacts): MachineFacts => facts;
  expect(asAsked).toBeTypeOf("function");
  const facts: MachineFacts = {
    ...factsOf({}),
    ...part,
    memory: { totalBytes: is(1), ecc: is("multi-bit"), dimms: { unknown: "cut", seen: [module, module] } },
  };
  const status = (check: string, limit = 1) =>
    acceptMachine(
      everyTest
        .filter(({ accept }) => accept.check === check)
        .slice(0, 1)
        .map((one) => ({ ...one, limit: one.limit && { ...one.limit, value: limit } })),
      facts,
    )[0]!.status;
  expect([status("cores", 8), status("cores", 9)]).toEqual(["pass", "fail"]);
  expect([status("power-supplies"), status("numa-nodes"), status("memory-ecc")]).toEqual([
    "pass",
    "pass",
    "pass",
  ]);
  // A list that was cut can prove that there is enough, never that there is too little or that all is well.
  expect([status("memory", 32 * gibibyte), status("memory-speed"), status("raid-cache")]).toEqual([
    "pass",
    "unknown",
    "unknown",
  ]);
});

const raid = (more: Partial<RaidFacts>): RaidFacts => ({
  cacheBytes: is(2 ** 31),
  backup: is("capacitor"),
  backupIsGood: is(true),
  backupState: is("Optimal"),
  cachesWithoutBackup: is(false),
  ...more,
});
test.each<[string, readonly RaidFacts[], Verdict["status"]]>([
  ["in order", [raid({})], "pass"],
  ["one of two without good backup", [raid({}), raid({ backupIsGood: is(false) })], "fail"],
  ["no backup", [raid({ backup: is("none") })], "fail"],
  ["caches without it", [raid({ cachesWithoutBackup: is(true) })], "fail"],
  ["only a bus adapter", [raid({ cacheBytes: is(0) })], "fail"],
  ["a bus adapter beside a good one", [raid({ cacheBytes: is(0), backup: is("none") }), raid({})], "pass"],
  ["backup not told", [raid({ backupIsGood: missing })], "unknown"],
  ["policy not told", [raid({ cachesWithoutBackup: missing })], "unknown"],
  ["none", [], "fail"],
])("RAID controllers: %s", (_, controllers, status) => {
  expect(judgeRaidCache({ known: controllers })).toMatchObject({ status });
});

test.each<[string, Partial<DiskFacts>, Verdict["status"]]>([
  ["protected by evidence", { hasVolatileCache: is(true), powerLossProtection: is(true) }, "pass"],
  ["known to be unprotected", { hasVolatileCache: is(true), powerLossProtection: is(false) }, "fail"],
  ["no cache to protect", { hasVolatileCache: is(false), powerLossProtection: is(false) }, "pass"],
])("a drive's cache, %s", (_, facts, status) => {
  expect(judgeWriteCache({ ...disk, ...facts })).toMatchObject({ status });
});

test("a slow link fails only when every link that is up tells its speed", () => {
  const link = (name: string, speedMbps: Fact<number>) => ({ name, speedMbps, hasCarrier: is(true) });
  expect(judgeNetworkSpeed({ known: [link("eth0", is(1_000)), link("eth1", missing)] }, 10).status).toBe(
    "unknown",
  );
  expect(judgeNetworkSpeed({ known: [link("eth0", is(1_000))] }, 10).status).toBe("fail");
});
