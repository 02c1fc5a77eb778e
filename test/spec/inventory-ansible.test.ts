/** Ansible inventories read in place of ours: INI and YAML, and whatever else may stand in such a file. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expandHostPattern } from "../../src/spec/ansible-host-range.ts";
import { jumpOfArguments } from "../../src/spec/ansible-variables.ts";
import type { InventoryDefinition } from "../../src/spec/inventory-definition.ts";
import { loadInventory, parseInventory } from "../../src/spec/load-inventory.ts";
import { formatProblem } from "../../src/spec/problem.ts";

function read(text: string, file: string): InventoryDefinition {
  const { inventory, problems } = parseInventory(text, file);
  expect(problems.map(formatProblem)).toEqual([]);
  return inventory!;
}

const ini = `# a comment
mail.example ansible_user=post   # no group
[schedulers]
sched-[a:b].example:2222 escapement_failure_domain=rack-1
sched-b.example escapement_failure_domain=rack-2

[executor_cpu]
exec[08:11:3] ansible_host=10.0.2.1 ansible_ssh_private_key_file=keys/exec note="two words"
; another comment
[db]
10.0.3.1 escapement_profile=record-store

[all:vars]
ansible_user=ops
escapement_time_sources=['10.0.0.1', '10.0.0.2']
escapement_virtual_ip = 10.0.0.100/24
escapement_virtual_router_id=51
escapement_store_url_file=secret/url
escapement_cluster=production
other_variable={{ lookup('x') }}

[production:children]
schedulers
executor_cpu

[production:vars]
escapement_virtual_router_id=52
ansible_ssh_common_args='-o ProxyJump=gate@bastion.example:22022 -o StrictHostKeyChecking=no'

[executor_cpu:vars]
ansible_port=22022
escapement_nightly=True
`;

const yaml = `all:
  vars:
    ansible_user: ops
    escapement_time_sources: [10.0.0.1, 10.0.0.2]
    escapement_virtual_ip: 10.0.0.100/24
    escapement_virtual_router_id: 51
    escapement_store_url_file: secret/url
    escapement_cluster: production
    other_variable: "{{ lookup('x') }}"
  hosts:
    mail.example: { ansible_user: post }
  children:
    db: { hosts: { 10.0.3.1: { escapement_profile: record-store } } }
    production:
      vars:
        escapement_virtual_router_id: 52
        ansible_ssh_common_args: -o ProxyJump=gate@bastion.example:22022
      children:
        schedulers:
          hosts:
            sched-[a:b].example:2222:
            sched-a.example: { escapement_failure_domain: rack-1 }
            sched-b.example: { escapement_failure_domain: rack-2 }
        executor_cpu:
          vars: { ansible_port: 22022, escapement_nightly: true }
          hosts:
            exec[08:11:3]:
              ansible_host: 10.0.2.1
              ansible_ssh_private_key_file: keys/exec
`;

describe.each([
  ["INI", ini, "/site/hosts"],
  ["INI", ini, "/site/hosts.ini"],
  ["YAML", yaml, "/site/hosts.yml"],
  ["YAML without its ending", yaml, "/site/hosts"],
])("%s in %s", (_, text, file) => {
  const inventory = read(text.replace("%s", ""), file);
  const host = (name: string) => inventory.hosts.find((one) => one.name === name)!;

  test("has every host of the ranges", () => {
    expect(inventory).toMatchObject({ format: "ansible", cluster: "production", name: "hosts", file });
    expect(inventory.hosts.map(({ name }) => name).sort()).toEqual([
      "10.0.3.1",
      "exec08",
      "exec11",
      "mail.example",
      "sched-a.example",
      "sched-b.example",
    ]);
  });

  test("gives profiles by variable, else by the name of a group", () => {
    const profiles = inventory.hosts.map(({ name, profile }) => [name, profile]);
    expect(Object.fromEntries(profiles)).toEqual({
      "10.0.3.1": "record-store",
      exec08: "executor-cpu",
      exec11: "executor-cpu",
      "mail.example": undefined,
      "sched-a.example": "scheduler",
      "sched-b.example": "scheduler",
    });
  });

  test("reaches each as its variables say, the nearest group last and the host itself after it", () => {
    expect(host("mail.example").target).toMatchObject({
      user: "post",
      port: 22,
      jump: [],
      defaulted: ["port", "jump"],
    });
    expect(host("sched-b.example").target).toMatchObject({
      address: "sched-b.example",
      user: "ops",
      port: 2222,
      jump: [{ host: "bastion.example", address: "bastion.example", user: "gate", port: 22022 }],
    });
    expect(host("exec11").target).toMatchObject({
      address: "10.0.2.1",
      port: 22022,
      identityFiles: ["/site/keys/exec"],
    });
    expect(host("sched-a.example").failureDomain).toBe("rack-1");
    expect(host("sched-b.example").failureDomain).toBe("rack-2");
  });

  test("takes escapement_ variables as settings, and nothing else", () => {
    expect(host("exec08").settings).toEqual({
      timeSources: ["10.0.0.1", "10.0.0.2"],
      virtualIp: "10.0.0.100/24",
      virtualRouterId: 52,
      storeUrlFile: "/site/secret/url",
      nightly: true,
    });
    expect(host("mail.example").settings.virtualRouterId).toBe(51);
    const place = host("exec08").settingPlace("virtualRouterId")!;
    expect(text.split("\n")[place.line - 1]!.slice(place.column - 1)).toMatch(
      /^escapement_virtual_router_id\W+52/,
    );
  });
});

test("the kind of file is told by its content where its name says nothing", () => {
  expect(read("[schedulers]\na\n", "x").hosts[0]!.profile).toBe("scheduler");
  expect(read("a ansible_connection=local\n", "x").hosts[0]!.target.connection).toBe("local");
  expect(read("{all: {hosts: {a: {}}}}\n", "x.json").hosts.map(({ name }) => name)).toEqual(["a"]);
  expect(read("[2001:db8::1]:2222 ansible_user=x\n", "x").hosts[0]!.target).toMatchObject({
    address: "2001:db8::1",
    port: 2222,
  });
});

test.each<[string, string, string, RegExp]>([
  ["an unclosed quote", "x", 'a b="c\n', /^x:1:1 {2}a quote " is not closed/],
  ["a word without =", "x", "[g]\n  a b\n", /^x:2:3 {2}"b" is not name=value/],
  ["a range backwards", "x", "a[5:1]\n", /ends before it begins/],
  ["a range of millions", "x", "a[1:9999999]\n", /more than 10000 hosts/],
  ["ranges that multiply", "x", "a[1:999][1:999]\n", /more than 10000 hosts/],
  ["an unknown section", "x", "[a:sons]\nb\n", /^x:1:1 {2}\[a:sons\] is not a section/],
  ["a child that is nowhere", "x", "[a:children]\nb\n[c]\nd\n", /^x:2:1 {2}b is not a group/],
  ["groups in a circle", "x", "[a:children]\nb\n[b:children]\na\n[b]\nh\n", /contains itself/],
  [
    "two profiles",
    "x",
    "[schedulers]\na\n[watchman]\na\n",
    /^x:2:1 {2}a is in groups of several profiles: scheduler, watchman/,
  ],
  ["a port out of range", "x", "a ansible_port=99999\n", /^x:1:3 {2}ansible_port must be/],
  [
    "a template where a value is needed",
    "x",
    "a ansible_host={{x}}\n",
    /^x:1:3 {2}ansible_host holds a template/,
  ],
  ["a connection that is not ssh", "x", "a ansible_connection=winrm\n", /winrm is not supported/],
  ["no hosts", "x", "[a]\n", /^x {2}has no hosts/],
  ["a list of groups", "x.yml", "---\n- a\n", /^x\.yml:2:1 {2}must be a map of groups/],
  [
    "an unknown field of a group",
    "x.yml",
    "all:\n  host: { a: }\n",
    /^x\.yml:2:3 {2}all\.host is not a known field/,
  ],
])("%s is told with its place", (_, file, text, message) => {
  const { inventory, problems } = parseInventory(text, file);
  expect(inventory).toBeUndefined();
  expect(problems.map(formatProblem).join("\n")).toMatch(message);
});

test("the group nearest to the host wins, and of equally near ones the later by name or priority", () => {
  const text =
    "[a]\nh\n[a:vars]\nescapement_x=near\n[z:children]\na\n[z:vars]\nescapement_x=far\nescapement_y=far\n";
  expect(read(text, "x").hosts[0]!.settings).toEqual({ x: "near", y: "far" });
  const equal = "[a]\nh\n[b]\nh\n[a:vars]\nescapement_x=a\n[b:vars]\nescapement_x=b\n";
  expect(read(equal, "x").hosts[0]!.settings).toEqual({ x: "b" });
  expect(read(`${equal}[a:vars]\nansible_group_priority=9\n`, "x").hosts[0]!.settings).toEqual({ x: "a" });
});

test("passwords are not used, and it is said", () => {
  const { notes } = read("a ansible_become_password=x ansible_ssh_common_args='-C'\n", "x");
  expect(notes).toEqual([
    "ansible_become_password is not used: passwords do not stand in an inventory",
    "ansible_ssh_common_args is not used: -C",
  ]);
});

test("folders that only Ansible reads are named", async () => {
  const folder = mkdtempSync(join(tmpdir(), "escapement-inventory-"));
  mkdirSync(join(folder, "group_vars"));
  writeFileSync(join(folder, "hosts"), "a\n");
  const { inventory } = await loadInventory(join(folder, "hosts"));
  rmSync(folder, { recursive: true });
  expect(inventory!.notes).toEqual([expect.stringMatching(/group_vars is not read/)]);
});

test.each<[string, string[]]>([
  ["a[01:03]", ["a01", "a02", "a03"]],
  ["[a:c]x", ["ax", "bx", "cx"]],
  ["n[1:7:3]-[a:b]", ["n1-a", "n1-b", "n4-a", "n4-b", "n7-a", "n7-b"]],
  ["p[:2]", ["p0", "p1", "p2"]],
  ["plain", ["plain"]],
])("the range %s", (pattern, names) => {
  expect(expandHostPattern(pattern)).toEqual(names);
});

test.each<[string, string[] | undefined]>([
  ["-J a,b@c:22", ["a", "b@c:22"]],
  ["-o ProxyJump=a@b", ["a@b"]],
  ["-o 'ProxyJump a'", ["a"]],
  [`-o ProxyCommand="ssh -W %h:%p -q u@bastion -p 2222"`, ["u@bastion:2222"]],
  [`-o ProxyCommand="nc -X connect %h %p"`, undefined],
  ["-o ControlPersist=60s", undefined],
])("jump hosts of %s", (written, hops) => {
  expect(jumpOfArguments(written)).toEqual(hops);
});

describe("whatever stands in a file", () => {
  const pieces = fc.constantFrom(
    ...[
      "[",
      "]",
      "[a]",
      "[a:vars]",
      "[a:children]",
      "[b:children]",
      "a",
      "b",
      "a[1:3]",
      "[1:",
      ":2222",
      "=",
      "'",
      '"',
    ],
    ..."#|;|\\|ansible_host=|ansible_port=x|escapement_profile=|{{x}}|\n|\n|\n| |[::1]|__proto__|constructor=1|all:|hosts:|vars:|children:|\n  |-|&a|*a|!vault|True|[1,2]".split(
      "|",
    ),
  );
  test("ends with an inventory or with problems that have a place", () => {
    const check = (text: string, file: string) => {
      const { inventory, problems } = parseInventory(text, file);
      expect(inventory === undefined).toBe(problems.length > 0);
      for (const problem of problems) expect(formatProblem(problem)).toMatch(/^x(\.yml)?(:\d+:\d+)? {2}/);
    };
    const file = fc.constantFrom("x", "x.yml");
    const words = fc.array(pieces, { maxLength: 30 }).map((all) => all.join(""));
    fc.assert(fc.property(fc.oneof(words, fc.string({ unit: "binary", maxLength: 80 })), file, check), {
      numRuns: 5_000,
    });
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => check(text, "x.yml")),
      { numRuns: 500 },
    );
  });
});

test("an address or a user that looks like an option is refused, with the host's place", () => {
  const text = "[c]\nh1 ansible_host=-oProxyCommand=x\nh2 ansible_user=-lx\n";
  expect(parseInventory(text, "i.ini").problems.map(formatProblem)).toEqual([
    expect.stringMatching(/^i\.ini:2:\d+ {2}.*neither a host name nor an address/),
    expect.stringMatching(/^i\.ini:3:\d+ {2}.*not the name of a user/),
  ]);
});
