/** Profiles and sites that are wrong, and what is said about them, with the place. */
import { expect, test } from "vitest";
import { formatProblem } from "../../../src/spec/problem.ts";
import { factsOf } from "./machines.ts";
import { compileFor, inventoryOf, type SiteHost, siteHosts, siteSettings, withProfile } from "./site.ts";

const head = "apiVersion: escapement/v1\nkind: HostProfile\nmetadata:\n  name: own\nspec:\n";

/** The text below `spec:`, and the one line that is said about it. */
const wrongProfiles: readonly [string, string, RegExp][] = [
  [
    "an unknown section",
    "  clok:\n    minSources: 2",
    /^own\.yaml:6:3 {2}spec\.clok is not a known field.*did you mean clock\?/,
  ],
  [
    "an unknown field",
    "  includes: [base]\n  clock:\n    minSource: 2",
    /^own\.yaml:8:5 {2}spec\.clock\.minSource .*did you mean minSources\?/,
  ],
  [
    "a wrong type",
    "  includes: [base]\n  clock:\n    minSources: two",
    /^own\.yaml:8:17 {2}spec\.clock\.minSources must be a whole number from 1 to 10/,
  ],
  [
    "a duration without unit",
    "  includes: [base]\n  clock:\n    maxDistance: 1",
    /^own\.yaml:8:18 {2}.*did you mean 1s\?/,
  ],
  [
    "a profile that is not there",
    "  includes: [bas]",
    /^own\.yaml:6:14 {2}spec\.includes\[0\] is not a profile that can be used; found "bas"; did you mean base\?/,
  ],
  ["itself", "  includes: [own]", /^own\.yaml:6:14 {2}.*includes itself: own → own/],
  [
    "a field that no profile has",
    "  journal: { maxUse: 1GiB, retention: 1d, rateInterval: 1s, rateBurst: 9 }",
    /^own\.yaml:6:3 {2}spec\.journal\.keepFree is missing: neither this profile/,
  ],
  [
    "a clock that steps at any time",
    "  includes: [base]\n  clock:\n    makeStep:\n      updates: -1",
    /^own\.yaml:9:16 {2}spec\.clock\.makeStep\.updates steps the clock at any time/,
  ],
  [
    "a step that nobody waits for",
    "  includes: [scheduler]\n  clock:\n    waitAtBoot: false",
    /^own\.yaml:8:17 {2}spec\.clock\.waitAtBoot must be true/,
  ],
  [
    "a leap second that steps",
    "  includes: [scheduler]\n  clock:\n    leapSeconds: step",
    /^own\.yaml:8:18 {2}.*step the clock back/,
  ],
  [
    "more agreeing sources than there are",
    "  includes: [base]\n  clock:\n    minSources: 4",
    /^own\.yaml:8:17 {2}.*is more than leastSources/,
  ],
  [
    "equal priorities",
    "  includes: [scheduler]\n  virtualIp:\n    priorityStep: 0",
    /^own\.yaml:8:19 {2}.*gives both hosts one priority/,
  ],
  [
    "a weight without preemption",
    "  includes: [scheduler]\n  virtualIp:\n    check:\n      weight: -60",
    /^own\.yaml:9:15 {2}.*must be 0 without preemption/,
  ],
  [
    "a weight smaller than the gap",
    "  includes: [scheduler]\n  virtualIp:\n    preempt: true\n    check:\n      weight: -20",
    /^own\.yaml:10:15 {2}.*does not bridge the gap of 50/,
  ],
  [
    "a check that overlaps the next",
    "  includes: [scheduler]\n  virtualIp:\n    check:\n      timeout: 2s",
    /^own\.yaml:9:16 {2}.*must be shorter/,
  ],
  [
    "one job's end is every job's end",
    "  includes: [executor-cpu]\n  executor:\n    oomPolicy: stop",
    /^own\.yaml:8:16 {2}spec\.executor\.oomPolicy must be continue/,
  ],
  [
    "shares of more than a host",
    "  includes: [executor-cpu]\n  executor:\n    mainClass: memory",
    /^own\.yaml:8:16 {2}.*take more than 0\.9/,
  ],
  [
    "a stop before the grace is over",
    "  includes: [executor-cpu]\n  executor:\n    stopTimeout: 30s",
    /^own\.yaml:8:18 {2}.*longer than the cluster's grace/,
  ],
  [
    "a resource of no kind",
    "  resources:\n    - kind: fil\n      path: /x",
    /^own\.yaml:7:13 {2}spec\.resources\[0\]\.kind /,
  ],
  [
    "a path that is not absolute",
    "  resources:\n    - kind: file\n      path: x\n      content: a",
    /^own\.yaml:8:13 {2}.*must be an absolute path/,
  ],
];

test.each(wrongProfiles)("%s", async (_, text, expected) => {
  const { problems } = await withProfile(`${head}${text}\n`);
  expect(problems.map(formatProblem)).toEqual([expect.stringMatching(expected)]);
});

test.each([
  [
    "one source moves the clock",
    "  includes: [base]\n  clock:\n    minSources: 1",
    /^own\.yaml:8:17 {2}.*two must agree/,
  ],
  ["two sources", "  includes: [base]\n  clock:\n    leastSources: 2", /^own\.yaml:8:19 {2}.*name three/],
  [
    "fast slewing",
    "  includes: [scheduler]\n  clock:\n    maxSlewRatePpm: 83333",
    /^own\.yaml:8:21 {2}.*wrong by up to this rate/,
  ],
  ["the watchman beside what it watches", "  includes: [record-store, watchman]", /fall silent together/],
])("a warning: %s", async (_, text, expected) => {
  const set = await withProfile(`${head}${text}\n`);
  expect(set.problems).toEqual([]);
  expect(set.warnings.map(formatProblem)).toEqual([expect.stringMatching(expected)]);
  expect(set.profiles.has("own")).toBe(true);
});

test("the profiles that come with the program have no problem and no warning", async () => {
  const set = await withProfile(`${head}  includes: [base]\n`);
  expect({ ...set, profiles: [...set.profiles.keys()].sort() }).toEqual({
    profiles: [
      "base",
      "executor",
      "executor-cpu",
      "executor-io",
      "executor-memory",
      "own",
      "record-store",
      "scheduler",
      "watchman",
    ],
    problems: [],
    warnings: [],
  });
});

const change = (name: string, to: Partial<SiteHost>): readonly SiteHost[] =>
  siteHosts.map((one) => (one.name === name ? { ...one, ...to } : one));

/** A site, the host it is compiled for, and what is said. */
const wrongSites: readonly [
  string,
  string,
  readonly SiteHost[],
  Readonly<Record<string, unknown>>,
  RegExp,
][] = [
  [
    "both schedulers in one domain",
    "sched-a",
    change("sched-b", { failureDomain: "rack-a" }),
    siteSettings,
    /^error .*sched-a and sched-b are both schedulers in failure domain rack-a/,
  ],
  [
    "one scheduler",
    "sched-a",
    siteHosts.filter(({ name }) => name !== "sched-b"),
    siteSettings,
    /^warning .*only scheduler/,
  ],
  [
    "two time sources",
    "exec-1",
    siteHosts,
    { ...siteSettings, timeSources: ["10.0.0.1", "10.0.0.2"] },
    /^error timeSources names 2 time source\(s\), the profile wants at least 3/,
  ],
  ["no archive", "exec-1", siteHosts, without("logArchive"), /^warning .*no setting logArchive/],
  [
    "jobs as root",
    "exec-1",
    siteHosts,
    { ...siteSettings, jobUsers: ["root"] },
    /^error jobUsers names root/,
  ],
  [
    "a job user with a blank in it",
    "exec-1",
    siteHosts,
    { ...siteSettings, jobUsers: ["settle", "pay out"] },
    /^error jobUsers has "pay out" in it/,
  ],
  [
    "a time source with an option behind it",
    "exec-1",
    siteHosts,
    { ...siteSettings, timeSources: ["10.0.0.1", "10.0.1.1", "10.0.2.1 trust"] },
    /^error timeSources has "10\.0\.2\.1 trust" in it/,
  ],
  [
    "the watchman in a scheduler's domain",
    "watch",
    change("watch", { failureDomain: "rack-a" }),
    siteSettings,
    /^warning the watchman watch is in failure domain rack-a with sched-a/,
  ],
  [
    "a profile that is not there",
    "sched-a",
    change("exec-3", { profile: "executor-gpu" }),
    siteSettings,
    /^error exec-3 has the profile executor-gpu/,
  ],
];

test.each(wrongSites)("%s", async (_, host, hosts, settings, expected) => {
  const compiled = await compileFor(host, factsOf("small"), { inventory: inventoryOf(hosts, settings) });
  expect(compiled.notes.map(({ severity, text }) => `${severity} ${text}`)).toEqual([
    expect.stringMatching(expected),
  ]);
  expect(compiled.notes[0]!.at?.line).toBeGreaterThan(0);
});

test("a site without mistakes has no notes", async () => {
  for (const { name } of siteHosts) expect((await compileFor(name, factsOf("small"))).notes).toEqual([]);
});

test.each([
  ["nobody", /has no such host/],
  ["bastion", /only a way to other hosts/],
  ["exec-3", /profile executor-gpu is not there/],
])("%s cannot be described", async (host, expected) => {
  const bastion = { name: "bastion", address: "10.0.0.9" } as unknown as SiteHost;
  const inventory = inventoryOf([...change("exec-3", { profile: "executor-gpu" }), bastion]);
  await expect(compileFor(host, factsOf("small"), { inventory })).rejects.toThrow(expected);
});

function without(setting: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(siteSettings).filter(([name]) => name !== setting));
}
