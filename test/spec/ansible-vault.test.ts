/** Values that only Ansible can open stay closed, and do not keep the rest from being read. */
import { expect, test } from "vitest";
import { parseInventory } from "../../src/spec/load-inventory.ts";
import { formatProblem } from "../../src/spec/problem.ts";

const secret = "!vault |\n          $ANSIBLE_VAULT;1.1;AES256\n          3061623865356435";

function read(variables: string) {
  const text = `all:\n  hosts:\n    exec-1:\n      ansible_host: 10.0.0.1\n${variables}`;
  const { inventory, problems } = parseInventory(text, "hosts.yaml");
  return { inventory, problems: problems.map(formatProblem) };
}

test("a variable that is not ours may be closed, or be no template", () => {
  const { inventory, problems } = read(
    `      ansible_become_password: ${secret}\n      motto: !unsafe "{{ not a template }}"\n`,
  );
  expect(problems).toEqual([]);
  expect(inventory?.hosts.map(({ name }) => name)).toEqual(["exec-1"]);
});

test("a user that is closed is no user", () => {
  const { problems } = read(`      ansible_user: ${secret}\n`);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/^hosts\.yaml:5:\d+ .*is not the name of a user/);
});

test("any other tag is refused, with its place", () => {
  expect(read("      motto: !python/object x\n").problems).toEqual([
    expect.stringMatching(/^hosts\.yaml:5:14 .*unknown tag: !python\/object/),
  ]);
});
