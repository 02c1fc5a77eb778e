/** What is decided before anything is made: names, addresses, rules, verdicts. */
import { expect, test } from "vitest";
import { capabilities } from "../../../src/lab/hosts/capabilities.ts";
import { countedHosts, namedHosts, placeHosts } from "../../../src/lab/hosts/default-hosts.ts";
import { ruleset } from "../../../src/lab/hosts/lab-network.ts";
import { LabPlace } from "../../../src/lab/hosts/lab-place.ts";

test("six hosts are a whole cluster; more are executors", () => {
  expect(countedHosts(6).map((host) => `${host.name} ${host.profile}`)).toEqual([
    "sched-1 scheduler",
    "sched-2 scheduler",
    "exec-1 executor-cpu",
    "exec-2 executor-io",
    "store-1 record-store",
    "watch-1 watchman",
  ]);
  const many = placeHosts(countedHosts(9), "10.70.1");
  expect(many.slice(6).map((host) => host.name)).toEqual(["exec-3", "exec-4", "exec-5"]);
  expect(new Set(many.map((host) => host.address)).size).toBe(9);
  expect(many[0]?.failureDomain).not.toBe(many[1]?.failureDomain);
});

test("a host's profile follows from its name", () => {
  const profiles = namedHosts(["sched-9", "store-2", "exec-2", "watcher", "spare"]).map(
    (host) => host.profile,
  );
  expect(profiles).toEqual(["scheduler", "record-store", "executor-io", "watchman", "executor-cpu"]);
});

test.each([
  [["a", "a"], "a name of its own"],
  [["controller"], "a name of its own"],
  [["Upper"], "name"],
  [["a.b"], "name"],
  [["../x"], "name"],
  [[], "1 to 100"],
])("hosts %j are refused", (names, reason) => {
  expect(() => placeHosts(namedHosts(names), "10.70.1")).toThrow(reason);
});

test.each(["", "a/b", "..", "a_b", "x".repeat(25), "-a", "a.b"])("a lab cannot be called %j", (name) => {
  expect(() => new LabPlace(name)).toThrow();
});

test("no two labs share a name of anything, not even when one begins like the other", () => {
  const [short, long] = [new LabPlace("a"), new LabPlace("a-b")];
  expect(short.hostNamespace("b")).not.toBe(long.namespace);
  expect(long.namespace.startsWith(`${short.namespace}.`)).toBe(false);
  expect(new LabPlace("x".repeat(24)).uplink.length).toBeLessThanOrEqual(15);
  expect(short.uplink).not.toBe(long.uplink);
});

test("rules without a cut drop nothing; each cut adds its own", () => {
  const hosts = placeHosts(countedHosts(2), "10.70.1");
  const drops = (...cuts: Parameters<typeof ruleset>[1]) =>
    ruleset(hosts, cuts)
      .split("\n")
      .filter((line) => line.endsWith(" drop"))
      .map((line) => line.trim());
  expect(drops()).toEqual([]);
  expect(drops({ host: "sched-1", direction: "receive", peers: [] })).toEqual([
    'oifname "p1" drop',
    'oifname "p1" drop',
  ]);
  expect(drops({ host: "sched-1", direction: "both", peers: ["sched-2", "controller"] })).toEqual([
    'iifname "p2" oifname "p1" drop',
    'iifname "p1" oifname "p2" drop',
    'iifname "uplink" oifname "p1" drop',
    'iifname "p1" oifname "uplink" drop',
  ]);
});

test("without hosts nothing is available, and what no host can show is never", () => {
  expect(capabilities("hosts need root").every((one) => one.verdict === "unknown" && one.reason !== "")).toBe(
    true,
  );
  const here = capabilities(undefined);
  expect(here.filter((one) => one.verdict === "available").map((one) => one.name)).toContain("power-cut");
  for (const name of ["kernel-clock", "write-loss", "kernel-settings"])
    expect(here.find((one) => one.name === name)).toMatchObject({ verdict: "unknown", needs: "needs-vm" });
});
