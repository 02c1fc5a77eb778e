/** Our own inventory: what comes out, and what is told about a wrong one. */
import { readFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { describe, expect, test } from "vitest";
import type { RemoteTarget } from "../../src/remote/remote.ts";
import { type InventoryDefinition, targets } from "../../src/spec/inventory-definition.ts";
import { jsonSchemaOf } from "../../src/spec/json-schema.ts";
import { parseInventory } from "../../src/spec/load-inventory.ts";
import { formatProblem } from "../../src/spec/problem.ts";

const head = "apiVersion: escapement/v1\nkind: Inventory\nmetadata: { name: site }\n";

function read(spec: string): InventoryDefinition {
  const { inventory, problems } = parseInventory(head + spec, "/site/inventory.yaml");
  expect(problems.map(formatProblem)).toEqual([]);
  return inventory!;
}

function problemsOf(spec: string): string[] {
  const { inventory, problems } = parseInventory(head + spec, "i.yaml");
  expect(inventory).toBeUndefined();
  return problems.map(formatProblem);
}

const whole = `spec:
  cluster: production
  defaults: { user: ops, port: 2222, identityFile: keys/id, knownHostsFile: known_hosts, sudoPasswordFile: ~/.sudo, connectTimeout: 5s }
  settings: { timeSources: [10.0.0.1, 10.0.0.2], virtualIp: 10.0.0.100/24, virtualRouterId: 51, storeUrlFile: store-url, nightly: true }
  hosts:
    - { name: gate, address: gate.example }
    - { name: sched-a, address: 10.0.1.1, profile: scheduler, failureDomain: rack-1, jump: [gate, "root@[::1]:2022"] }
    - name: exec-a
      address: 10.0.2.1
      port: 22
      user: root
      profile: executor-cpu
      identityFile: /keys/other
      settings: { virtualRouterId: 52, jobUsers: [pay, settle] }
      jump: [sched-a]
`;

describe("a whole inventory", () => {
  const inventory = read(whole);
  const [gate, scheduler, executor] = inventory.hosts;

  test("applies defaults and takes paths from its folder", () => {
    expect(inventory).toMatchObject({ name: "site", cluster: "production", format: "escapement" });
    expect(gate).toMatchObject({ name: "gate", failureDomain: "gate", line: 9 });
    expect(gate!.target).toEqual({
      host: "gate",
      address: "gate.example",
      port: 2222,
      user: "ops",
      identityFiles: ["/site/keys/id"],
      knownHostsFiles: ["/site/known_hosts"],
      jump: [],
      sudoPasswordFile: `${homedir()}/.sudo`,
      connectTimeoutMs: 5000,
      defaulted: ["jump"],
    });
    expect(executor!.target).toMatchObject({ port: 22, user: "root", identityFiles: ["/keys/other"] });
  });

  test("gives a host the site's settings with its own in their place, and knows where each stands", () => {
    expect(executor!.settings).toEqual({
      timeSources: ["10.0.0.1", "10.0.0.2"],
      virtualIp: "10.0.0.100/24",
      virtualRouterId: 52,
      storeUrlFile: "/site/store-url",
      nightly: true,
      jobUsers: ["pay", "settle"],
    });
    expect(scheduler!.settings.virtualRouterId).toBe(51);
    expect(executor!.settingPlace("virtualRouterId")).toMatchObject({ line: 17, column: 19 });
    expect(executor!.settingPlace("virtualIp")).toMatchObject({ line: 7 });
    expect(executor!.settingPlace("other")).toBeUndefined();
  });

  test("follows the way to the first hop only, and every hop has its own name and port", () => {
    const way = (i: number) =>
      inventory.hosts[i]!.target.jump.map((t) => `${t.host} ${t.user}@${t.address}:${t.port}`);
    expect(way(1)).toEqual(["gate ops@gate.example:2222", "::1 root@::1:2022"]);
    expect(way(2)).toEqual([...way(1), "sched-a ops@10.0.1.1:2222"]);
  });

  test("its targets are what a connection takes", () => {
    const all: readonly RemoteTarget[] = targets(inventory);
    expect(all.map(({ host }) => host)).toEqual(["gate", "sched-a", "exec-a"]);
  });
});

test("what is left open is said so, for the ssh configuration to fill in", () => {
  const [only] = targets(read("spec: { hosts: [{ name: a, address: a.example }] }"));
  expect(only).toMatchObject({
    port: 22,
    user: userInfo().username,
    identityFiles: [],
    knownHostsFiles: [],
    connectTimeoutMs: 20_000,
    defaulted: ["user", "port", "jump"],
  });
});

const hosts = (...lines: string[]) => `spec:\n  hosts:\n${lines.map((line) => `    - ${line}\n`).join("")}`;

test.each<[string, string, RegExp[]]>([
  ["no hosts", "spec: { hosts: [] }", [/^i\.yaml:4:16 {2}spec\.hosts must not be empty/]],
  [
    "a name that is used twice",
    hosts("{ name: a, address: x }", "{ name: a, address: y }"),
    [/^i\.yaml:7:15 {2}spec\.hosts\[1\]\.name is used twice, first at i\.yaml:6:15/],
  ],
  [
    "an unknown jump host",
    hosts("{ name: gate, address: x }", "{ name: b, address: y, jump: [gtae] }"),
    [/^i\.yaml:7:37 {2}spec\.hosts\[1\]\.jump\[0\] is neither a host .* did you mean gate\?/],
  ],
  [
    "a circle of jumps",
    hosts("{ name: a, address: x, jump: [b] }", "{ name: b, address: y, jump: [a] }"),
    [/^i\.yaml:7:37 .* leads in a circle/, /^i\.yaml:6:37 .* leads in a circle/],
  ],
  ["a jump through itself", hosts("{ name: a, address: x, jump: [a] }"), [/leads in a circle/]],
  [
    "a port of a jump out of range",
    hosts("{ name: a, address: x, jump: ['u@h:70000'] }"),
    [/is neither a host/],
  ],
  [
    "a setting of an impossible shape",
    "spec:\n  settings: { a: { b: 1 } }\n  hosts: [{ name: a, address: x }]",
    [
      /^i\.yaml:5:18 {2}spec\.settings\.a must be text on one line, a number, true or false, or a list of these/,
    ],
  ],
  [
    "a setting of two lines",
    'spec:\n  settings: { timeSources: ["10.0.0.1\\nallow all"] }\n  hosts: [{ name: a, address: x }]',
    [/^i\.yaml:5:28 {2}spec\.settings\.timeSources must be text on one line/],
  ],
  [
    "a setting with a name that no profile can use",
    "spec:\n  settings: { a-b: 1 }\n  hosts: [{ name: a, address: x }]",
    [/^i\.yaml:5:15 {2}spec\.settings\.a-b must be one word/],
  ],
  [
    "an unknown field",
    hosts("{ name: a, adress: x }"),
    [/adress is not a known field.*did you mean address/],
  ],
])("%s", (_, spec, expected) => {
  const found = problemsOf(spec);
  for (const pattern of expected) expect(found.join("\n")).toMatch(new RegExp(pattern.source, "m"));
});

test("another kind of document is not an inventory", () => {
  const { problems } = parseInventory("apiVersion: escapement/v1\nkind: Clutser\n", "i.yaml");
  expect(problems.map(formatProblem).join()).toMatch(/did you mean Cluster/);
});

test("the example of the page is right, and the page names every field", () => {
  const page = readFileSync("docs/remote.md", "utf8");
  const [, example] = /^```yaml\n([\s\S]*?)^```/m.exec(page)!;
  const { inventory, problems } = parseInventory(example!, "inventory.yaml");
  expect(problems.map(formatProblem)).toEqual([]);
  expect(inventory!.hosts.map(({ name }) => name)).toEqual(["gate", "sched-a", "sched-b", "exec-a"]);
  const fields = JSON.stringify(jsonSchemaOf("Inventory")).matchAll(/"properties":\{("[^}]*)/g);
  const names = [...fields].flatMap((match) =>
    [...match[1]!.matchAll(/"(\w+)":\{/g)].map((name) => name[1]!),
  );
  expect(names.length).toBeGreaterThan(4);
  expect(names.filter((name) => !page.includes(name))).toEqual([]);
});

test.each([
  ["an option of ssh", 'address: "-oProxyCommand=x"', "6:29  spec.hosts[0].address must be a host name"],
  ["a terminal code", 'address: "10.0.0.1\\e[31m"', "6:29  spec.hosts[0].address must be a host name"],
  ["brackets", 'address: "[::1]"', "6:29  spec.hosts[0].address must be a host name"],
  [
    "a user that is an option",
    'address: a, user: "-lx"',
    "6:38  spec.hosts[0].user must be the name of a user",
  ],
  [
    "a terminal code of a jump host",
    'address: a, jump: ["a\\e[1m@b"]',
    "6:39  spec.hosts[0].jump[0] is neither",
  ],
])("%s is no way to a host", (_, fields, told) => {
  const problems = problemsOf(`spec:\n  hosts:\n    - { name: one, ${fields} }\n`);
  expect(problems).toEqual([expect.stringContaining(told)]);
  expect(problems.join()).not.toMatch(/\p{Cc}/u);
});

test("an address and a user may be written in many ways", () => {
  const hosts = ["fe80::1%eth0", "10.0.0.1", "пример.example", "a_b.example"]
    .map((address, i) => `    - { name: h${i}, address: "${address}", user: 'SITE\\ada@site' }\n`)
    .join("");
  expect(read(`spec:\n  hosts:\n${hosts}`).hosts).toHaveLength(4);
});
