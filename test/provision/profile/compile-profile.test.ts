/** What a profile turns into: golden texts, merging, order, the container, the user's own resources. */
import { expect, test } from "vitest";
import type { CompiledProfile } from "../../../src/provision/profile/compile-profile.ts";
import { explain } from "../../../src/provision/profile/explain.ts";
import { factsFromJson } from "../../../src/provision/profile/facts-from-json.ts";
import { factsOf, type MachineName } from "./machines.ts";
import {
  compileFor,
  fileAt,
  inventoryOf,
  resourceOf,
  siteHosts,
  siteSettings,
  valueAt,
  withProfile,
} from "./site.ts";

const goldens: readonly [string, MachineName][] = [
  ["sched-a", "small"],
  ["sched-b", "container"],
  ["exec-1", "twoSockets"],
  ["store", "small"],
  ["watch", "small"],
];

test.each(goldens)("every resource of %s on %s", async (host, machine) => {
  const compiled = await compileFor(host, factsOf(machine));
  await expect(textOf(compiled)).toMatchFileSnapshot(
    `../../cases/provision/profile-resources/${host}-${machine}.txt`,
  );
});

/** All that a host gets, for people to read and to compare. */
function textOf({ resources }: CompiledProfile): string {
  return resources
    .map((resource) => {
      const { id, kind, risk, after, restarts, unavailable } = resource;
      const lines = [
        `=== ${id}`,
        `risk ${risk}`,
        ...(after.length > 0 ? [`after ${after.join(" ")}`] : []),
        ...restarts.map(
          (one) => `then ${one.action} ${one.unit}${one.unless ? ` unless ${one.unless}` : ""}`,
        ),
        ...(unavailable === undefined ? [] : [`UNKNOWN ${unavailable}`]),
      ];
      if (kind === "file") {
        // The program of another folder: its text is tested there.
        const text = resource.path.endsWith("/run-job") ? "(profiles/files/run-job)\n" : resource.content;
        lines.push(`${resource.owner}:${resource.group} ${resource.mode.toString(8)}`, text);
      } else if (kind === "nft-table") lines.push(resource.rules);
      else {
        const {
          provenance: _,
          noop: __,
          after: ___,
          restarts: ____,
          risk: _____,
          id: ______,
          ...rest
        } = resource;
        lines.push(JSON.stringify(rest));
      }
      return lines.join("\n");
    })
    .join("\n")
    .concat("\n");
}

test("two schedulers differ in name, priority and peer, and in nothing else", async () => {
  const [a, b] = await Promise.all(
    ["sched-a", "sched-b"].map(async (host) => textOf(await compileFor(host, factsOf("small"))).split("\n")),
  );
  const differences = a!.filter((line, i) => line !== b![i]);
  expect(differences.map((line) => line.trim())).toEqual([
    'ip saddr 10.0.0.12 meta l4proto vrrp accept comment "vrrp"',
    "priority 150",
    "unicast_src_ip 10.0.0.11",
    "10.0.0.12",
    expect.stringContaining("--node sched-a"),
    'http: { address: "0.0.0.0", port: 7070 }',
    'http: { address: "10.0.0.12", port: 7070 }',
  ]);
});

test.each(["sched-a", "exec-1"])("%s starts with a step wherever chrony-wait would wait", async (name) => {
  const { content } = fileAt(await compileFor(name, factsOf("small")), "/etc/chrony/chrony.conf");
  // Debian's chrony-wait.service: chronyc waitsync 0 0.1.
  const [, threshold, updates] = /^makestep (\S+) (\S+)$/m.exec(content)!;
  expect(Number(threshold)).toBeLessThanOrEqual(0.1);
  expect(Number(updates)).toBeGreaterThan(0);
});

test("a profile changes single fields of what it includes, and each keeps its place", async () => {
  const profiles = await withProfile(
    [
      "apiVersion: escapement/v1",
      "kind: HostProfile",
      "metadata: { name: own }",
      "spec:",
      "  includes: [executor-cpu]",
      "  clock:",
      "    maxSlewRatePpm: 250",
      "    makeStep:",
      "      updates: 0",
    ].join("\n"),
  );
  const inventory = inventoryOf(
    siteHosts.map((one) => (one.name === "exec-1" ? { ...one, profile: "own" } : one)),
  );
  const compiled = await compileFor("exec-1", factsOf("small"), { inventory, profiles });
  const chrony = fileAt(compiled, "/etc/chrony/chrony.conf").content;
  expect(chrony).toContain("maxslewrate 250\n");
  expect(chrony).not.toContain("makestep");
  expect(chrony).toContain("minsources 2\n");
  const from = (key: string) => compiled.provenance.find((one) => one.key === key)?.from;
  expect(from("clock.maxSlewRatePpm")).toBe("own.yaml:7:21");
  expect(from("clock.makeStep.updates")).toBe("own.yaml:9:16");
  expect(from("clock.makeStep.threshold")).toMatch(/^profiles\/base\.yaml:\d+:\d+$/);
  expect(from("executor.cpu.factor")).toMatch(/^profiles\/executor-cpu\.yaml:/);
});

test("a profile's own resources come with every kind, and have the last word", async () => {
  const profiles = await withProfile(
    [
      "apiVersion: escapement/v1",
      "kind: HostProfile",
      "metadata: { name: own }",
      "spec:",
      "  includes: [watchman]",
      "  resources:",
      '    - { kind: file, path: /etc/motd, content: "hello", mode: "0640", restarts: [{ unit: a.service, action: reload }] }',
      "    - { kind: file, path: /etc/gone, absent: true }",
      "    - { kind: directory, path: /srv/x }",
      "    - { kind: package, name: jq }",
      "    - { kind: group, name: batch }",
      "    - { kind: user, name: batch, group: batch }",
      '    - { kind: sysctl, key: vm.swappiness, value: "3" }',
      "    - { kind: unit, name: nginx.service, enabled: masked, running: false }",
      "    - { kind: mount-option, mountPoint: /data, options: [noatime] }",
      "    - { kind: kernel-parameter, name: processor.max_cstate, value: '1' }",
      "    - { kind: sshd-option, name: PasswordAuthentication, value: 'no' }",
      "    - { kind: nft-table, table: extra, rules: 'table inet extra { }' }",
      "    - { kind: time-zone, zone: Etc/UTC }",
    ].join("\n"),
  );
  expect(profiles.problems).toEqual([]);
  const inventory = inventoryOf(
    siteHosts.map((one) => (one.name === "watch" ? { ...one, profile: "own" } : one)),
  );
  const compiled = await compileFor("watch", factsOf("small"), { inventory, profiles });
  expect(resourceOf(compiled, "sysctl:vm.swappiness")).toMatchObject({
    value: "3",
    provenance: [{ key: "resources.sysctl:vm.swappiness", from: "own.yaml:13:7" }],
  });
  expect(compiled.notes.map(({ text }) => text)).toEqual([
    "sysctl:vm.swappiness is described twice; the later description holds",
    "time-zone is described twice; the later description holds",
  ]);
  expect(fileAt(compiled, "/etc/motd")).toMatchObject({ mode: 0o640, content: "hello", owner: "root" });
  expect(fileAt(compiled, "/etc/gone").absent).toBe(true);
  expect(new Set(compiled.resources.map(({ kind }) => kind)).size).toBe(12);
  expect(resourceOf(compiled, "user:batch")).toMatchObject({ shell: "/usr/sbin/nologin", system: true });
});

test("every resource stands behind what it waits for, with an id of its own", async () => {
  for (const { name } of siteHosts) {
    const { resources } = await compileFor(name, factsOf("small"));
    const seen = new Set<string>();
    for (const { id, after, noop } of resources) {
      expect(after.filter((one) => !seen.has(one))).toEqual([]);
      expect(seen.has(id)).toBe(false);
      expect(noop).not.toBe("");
      seen.add(id);
    }
  }
});

test("in a container the kernel and the clock are those of the machine below", async () => {
  const compiled = await compileFor("sched-a", factsOf("container"));
  expect(resourceOf(compiled, "sysctl:vm.swappiness").unavailable).toBe(
    "needs-vm: systemd-nspawn cannot set vm.swappiness",
  );
  expect(resourceOf(compiled, "sysctl:net.core.somaxconn").unavailable).toMatch(/^needs-vm: /);
  expect(fileAt(compiled, "/etc/systemd/system/chrony.service.d/escapement.conf").content).toContain(
    'Environment="DAEMON_OPTS=-x"',
  );
  expect(fileAt(compiled, "/etc/systemd/system/escapement-scheduler.service").content).not.toContain(
    "chrony-wait",
  );
  const control = compiled.provenance.find(({ key }) => key === "clock.control");
  expect(control?.because).toBe("container: systemd-nspawn may not set the clock");

  const metal = await compileFor("sched-a", factsOf("small"));
  expect(metal.resources.filter(({ unavailable }) => unavailable !== undefined)).toEqual([]);
  expect(metal.resources.some(({ id }) => id.includes("chrony.service.d"))).toBe(false);
});

test("nothing restarts the clock or the scheduler under an active scheduler", async () => {
  for (const machine of ["small", "container"] as const) {
    const { resources } = await compileFor("sched-a", factsOf(machine));
    const restarts = resources.flatMap((one) => one.restarts);
    const careful = restarts.filter(({ unit }) => /^(chrony|escapement-scheduler)/.test(unit));
    expect(careful.length).toBeGreaterThan(1);
    expect(careful.filter(({ unless }) => unless !== "active-scheduler")).toEqual([]);
  }
});

test("the leap second and the time zone are the same on every host", async () => {
  const policies = new Set<string>();
  for (const { name } of siteHosts) {
    const compiled = await compileFor(name, factsOf("small"));
    policies.add(`${valueAt(compiled, "clock.leapSeconds")} ${valueAt(compiled, "timeZone.zone")}`);
  }
  expect([...policies]).toEqual(["slew Etc/UTC"]);
});

test("explain: a value, the beginning of several, a resource, and a slip of the pen", async () => {
  const compiled = await compileFor("exec-1", factsOf("twoSockets"));
  expect(explain(compiled, "executor.slots.cpu").found).toEqual([
    {
      key: "executor.slots.cpu",
      value: "50",
      from: "computed",
      because:
        "what the other classes leave: the lesser of ⌊50.67 cores × 1⌋ = 50 and ⌊474 GiB ÷ 2 NUMA nodes ÷ (2 GiB × 1.5)⌋ × 2 = 158",
      resources: ["file:/etc/escapement/cluster.yaml"],
    },
  ]);
  expect(explain(compiled, "executor.slots").found.map(({ value }) => value)).toEqual(["50", "8", "0"]);
  expect(explain(compiled, "file:/etc/escapement/job-users").found).toMatchObject([
    {
      key: "executor.jobUsers",
      value: "settle, payout",
      from: expect.stringMatching(/^setting jobUsers at site\.yaml:/),
    },
  ]);
  expect(explain(compiled, "executor.slot.cpu")).toEqual({ found: [], suggestion: "executor.slots.cpu" });
});

test("facts from a file: what is not a fact is not taken for one", () => {
  const facts = factsOf("small");
  const again = JSON.parse(JSON.stringify(facts)) as Record<string, unknown>;
  expect(factsFromJson(again, "exec-1")).toEqual(facts);
  expect(factsFromJson({ hosts: [{ host: "x" }, { host: "exec-1", facts: again }] }, "exec-1")).toEqual(
    facts,
  );
  expect(factsFromJson({ hosts: [{ host: "x", facts: again }] }, "exec-1")).toBeUndefined();
  expect(factsFromJson([], "exec-1")).toBeUndefined();
  for (const cores of [64, { value: 64 }, null])
    expect(factsFromJson({ ...again, cpu: { cores } }, "exec-1")?.cpu.cores).toEqual({
      unknown: "not in the facts file",
    });
});

test("words of the archive are words of the unit, whatever is in them", async () => {
  const inventory = inventoryOf(siteHosts, {
    ...siteSettings,
    logArchive: "s3://logs/100%/a b",
    logArchiveEndpoint: "https://s3.example.com",
    logArchiveRegion: "eu-1",
  });
  const compiled = await compileFor("exec-1", factsOf("small"), { inventory });
  expect(fileAt(compiled, "/etc/systemd/system/escapement-ship-logs.service").content).toContain(
    'logs ship --from /var/log/escapement/jobs --to "s3://logs/100%%/a b" --older-than 30d --keep-months 12 ' +
      "--host exec-1 --endpoint https://s3.example.com --region eu-1\n",
  );
});
