/** The same file gives other numbers on another machine: sizes worked out by hand. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { explain } from "../../../src/provision/profile/explain.ts";
import { loadText } from "../../../src/spec/load.ts";
import { factsOf, type MachineName, machines, nothingKnown } from "./machines.ts";
import { compileFor, fileAt, inventoryOf, resourceOf, siteHosts, siteSettings, valueAt } from "./site.ts";

interface ExecutorCase {
  readonly profile: string;
  readonly machine: MachineName;
  readonly slots: Readonly<Record<"cpu" | "memory" | "io", number>>;
  /** MiB */
  readonly memoryMax: number;
  readonly tasksMax: number;
  readonly tooSmall?: boolean;
}
interface StoreCase {
  readonly machine: MachineName;
  readonly settings: Readonly<Record<string, string>>;
}
const cases = JSON.parse(readFileSync("test/cases/provision/profile-sizes.json", "utf8")) as {
  readonly executors: readonly ExecutorCase[];
  readonly recordStores: readonly StoreCase[];
};

const hostOf = (profile: string) => siteHosts.find((one) => one.profile === profile)!.name;

test.each(cases.executors)("$profile on $machine", async (one) => {
  const compiled = await compileFor(hostOf(one.profile), factsOf(one.machine));
  const slots = Object.fromEntries(
    ["cpu", "memory", "io"].map((name) => [name, Number(valueAt(compiled, `executor.slots.${name}`))]),
  );
  expect(slots).toEqual(one.slots);
  const slice = fileAt(compiled, "/etc/systemd/system/escapement-jobs.slice").content;
  expect(slice).toContain(`MemoryMax=${one.memoryMax * 2 ** 20}\n`);
  expect(slice).toContain(`TasksMax=${one.tasksMax}\n`);
  const { cpu, memory, io } = one.slots;
  expect(fileAt(compiled, "/etc/escapement/cluster.yaml").content).toContain(
    `slots: { cpu: ${cpu}, memory: ${memory}, io: ${io} }`,
  );
  const errors = compiled.notes.filter(({ severity }) => severity === "error").map(({ text }) => text);
  if (one.tooSmall) expect(errors).toEqual([expect.stringMatching(/too small for a single attempt/)]);
  else expect(errors).toEqual([]);
});

test.each(cases.executors)("$profile on $machine fits into the memory of its NUMA nodes", async (one) => {
  const compiled = await compileFor(hostOf(one.profile), factsOf(one.machine));
  const text = fileAt(compiled, "/etc/escapement/cluster.yaml").content;
  const { memoryBytes, numaNodes, cores } = machines[one.machine];
  const peaks = { cpu: 2, memory: one.profile === "executor-memory" ? 16 : 8, io: 1 };
  const reserved = (["cpu", "memory", "io"] as const).reduce(
    (sum, name) => sum + one.slots[name] * peaks[name] * 2 ** 30 * 1.5,
    0,
  );
  expect(reserved).toBeLessThan(memoryBytes);
  expect(one.slots.memory * 24 * 2 ** 30).toBeLessThanOrEqual(memoryBytes);
  expect(one.slots.memory % numaNodes).toBe(0);
  expect(one.slots.cpu + one.slots.memory / 1.25 + one.slots.io / 1.5).toBeLessThanOrEqual(cores);
  if (one.tooSmall) return;
  expect(loadText(text, "cluster.yaml").problems).toEqual([]);
});

test.each(cases.recordStores)("a record store on $machine", async ({ machine, settings }) => {
  const compiled = await compileFor("store", factsOf(machine));
  const text = fileAt(compiled, "/etc/postgresql/15/main/conf.d/escapement.conf").content;
  const found = Object.fromEntries(
    [...text.matchAll(/^(\w+) = (.+)$/gm)].map((match) => [match[1]!, match[2]!]),
  );
  expect(found).toMatchObject(settings);
  expect(found).toMatchObject({ fsync: "on", full_page_writes: "on", synchronous_commit: "on" });
});

test("the cluster file of every host is one that the daemons can read", async () => {
  for (const { name, profile } of siteHosts) {
    if (profile === "record-store") continue;
    const compiled = await compileFor(name, factsOf("small"));
    const { documents, problems } = loadText(fileAt(compiled, "/etc/escapement/cluster.yaml").content, name);
    expect(problems).toEqual([]);
    expect(documents[0]).toMatchObject({ kind: "Cluster", id: "site" });
  }
});

test("a fact that could not be read leaves no number behind, and names the setting that may replace it", async () => {
  const compiled = await compileFor("exec-1", nothingKnown());
  const slice = resourceOf(compiled, "file:/etc/systemd/system/escapement-jobs.slice");
  expect(slice.unavailable).toBe(
    "the size of memory is unknown (not read in this test); the setting memory can say it",
  );
  const cluster = resourceOf(compiled, "file:/etc/escapement/cluster.yaml");
  expect(cluster.unavailable).toMatch(/number of physical cores is unknown .*; the setting cores can say it/);
  // What waits for them is unknown too, and what does not is not.
  expect(resourceOf(compiled, "unit:escapement-executor.service").unavailable).toMatch(/^waits for file:/);
  expect(resourceOf(compiled, "sysctl:vm.min_free_kbytes").unavailable).toMatch(/memory is unknown/);
  expect(resourceOf(compiled, "sysctl:vm.swappiness").unavailable).toBeUndefined();
  expect(resourceOf(compiled, "file:/etc/chrony/chrony.conf").unavailable).toBeUndefined();
  expect(explain(compiled, "executor.slots.cpu").found).toMatchObject([
    { value: "unknown", unavailable: cluster.unavailable, because: cluster.unavailable },
  ]);
  expect(valueAt(compiled, "jobsSlice.memoryMax")).toBe("unknown");
  expect(valueAt(await compileFor("store", nothingKnown()), "recordStore.workMem")).toBe("unknown");
});

test("settings of the inventory stand in for facts, and say so", async () => {
  const inventory = inventoryOf(
    siteHosts.map((one) =>
      one.name === "exec-1" ? { ...one, settings: { cores: 16, memory: "64GiB", numaNodes: 1 } } : one,
    ),
  );
  const compiled = await compileFor("exec-1", nothingKnown(), { inventory });
  // 16 − 2 = 14 cores, 64 − 3.2 GiB; io: ⌊1.4 × 1.5⌋ = 2; cpu: ⌊14 − 2 ÷ 1.5⌋ = 12
  expect(valueAt(compiled, "executor.slots.cpu")).toBe("12");
  expect(valueAt(compiled, "executor.slots.io")).toBe("2");
  const cores = compiled.provenance.find(({ key }) => key === "executor.coresForJobs");
  expect(cores?.because).toMatch(/^16 physical cores \(setting cores at site\.yaml:4:\d+\)/);
  expect(resourceOf(compiled, "file:/etc/systemd/system/escapement-jobs.slice").unavailable).toBeUndefined();
});

test.each(["0", "many", "-4"])("cores: %s is no number of cores", async (cores) => {
  const inventory = inventoryOf(siteHosts, { ...siteSettings, cores });
  const compiled = await compileFor("exec-1", factsOf("small"), { inventory });
  expect(resourceOf(compiled, "file:/etc/escapement/cluster.yaml").unavailable).toMatch(
    /setting cores .* is not a number above 0/,
  );
});

test.each([
  // A hundredth, and the kernel keeps a twentieth: 720 ÷ 20 = 36 MiB.
  { host: "sched-a", memory: "720MiB", nodes: 1, kib: 36_864 },
  // 11 blocks of 2 MiB in three zones.
  { host: "sched-a", memory: "4GiB", nodes: 1, kib: 67_584 },
  { host: "exec-1", memory: "8GiB", nodes: 4, kib: 135_168 },
  { host: "sched-a", memory: "8GiB", nodes: 1, kib: 83_886 },
  // Without huge pages the share is all.
  { host: "store", memory: "2GiB", nodes: 1, kib: 20_972 },
])(
  "$host with $memory keeps $kib KiB free, not less than the kernel does",
  async ({ host, memory, nodes, kib }) => {
    const inventory = inventoryOf(siteHosts, { ...siteSettings, memory, numaNodes: nodes });
    const compiled = await compileFor(host, factsOf("small"), { inventory });
    expect(resourceOf(compiled, "sysctl:vm.min_free_kbytes")).toMatchObject({ value: String(kib) });
  },
);
