/** Playbooks of the program are right; wrong ones say where. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { registry } from "../../../src/provision/playbook/actions/index.ts";
import { loadPlaybooks } from "../../../src/provision/playbook/load-playbook.ts";
import { formatProblem } from "../../../src/spec/problem.ts";

const shipped = fileURLToPath(new URL("../../../playbooks", import.meta.url));

async function problemsOf(text: string): Promise<string[]> {
  const folder = mkdtempSync(join(tmpdir(), "escapement-playbook-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "p.yaml"), text);
  const { problems } = await loadPlaybooks([folder], registry);
  return problems.map((problem) => formatProblem({ ...problem, file: "p.yaml" }));
}

const playbook = (steps: string, target = "cluster") => `apiVersion: escapement/v1
kind: Playbook
metadata: { name: p }
spec:
  description: Something.
  target: ${target}
  steps:
${steps}
`;
const step = (rest: string, id = "a") => `    - id: ${id}
      title: Something
      hosts: { role: any }
      risk: low
${rest}`;

test("the program's own playbooks are right, and each is named after its file", async () => {
  const { playbooks, problems } = await loadPlaybooks([shipped], registry);
  expect(problems.map(formatProblem)).toEqual([]);
  expect(playbooks.map((one) => `${one.name}.yaml`)).toEqual(readdirSync(shipped).sort());
  expect(playbooks.map((one) => one.name)).toEqual([
    "add-executor",
    "bootstrap",
    "drain-host",
    "replace-host",
    "retire-host",
    "switch-scheduler",
    "upgrade",
  ]);
});

test("whatever is risky in them is verified, and goes host by host where it must", async () => {
  const { playbooks } = await loadPlaybooks([shipped], registry);
  for (const { name, spec } of playbooks) {
    for (const one of spec.steps) {
      const where = `${name} ${one.id}`;
      if (one.risk === "high") expect(one.verify, where).toBeDefined();
      // Never both schedulers at once, never before the partner is known to be healthy.
      if (one.hosts.role === "scheduler" && one.hosts.pick === "all" && one.risk !== "low")
        expect(one.rolling, where).toBe("one-by-one");
      const touchesScheduler = ["restart-scheduler", "switch-leader"].includes(one.action.do);
      if (touchesScheduler)
        expect(
          one.requires.map((check) => check.check),
          where,
        ).toContain("other-scheduler-ready");
    }
  }
});

test("unknown names and wrong values are problems with their place", async () => {
  expect(await problemsOf(playbook(step("      action: { do: deploy-toolkti }")))).toEqual([
    expect.stringMatching(
      /^p\.yaml:12:21 {2}spec\.steps\[0\]\.action\.do is not an action of this program; found "deploy-toolkti"; choices: .*did you mean deploy-toolkit\?$/,
    ),
  ]);
  expect(
    await problemsOf(
      playbook(
        step("      guard: { check: unit-actve, with: { unit: a.service } }\n      action: { do: wait }"),
      ),
    ),
  ).toEqual([
    expect.stringMatching(
      /^p\.yaml:12:23 {2}spec\.steps\[0\]\.guard\.check is not a check .*did you mean unit-active\?$/,
    ),
  ]);
  expect(
    await problemsOf(playbook(step("      action: { do: restart-unit, with: { unit: '../x' } }"))),
  ).toEqual([expect.stringMatching(/^p\.yaml:12:\d+ {2}spec\.steps\[0\]\.action\.with\.unit /)]);
  expect(await problemsOf(playbook(step("      action: { do: wait, with: { colour: red } }")))).toEqual([
    expect.stringMatching(/^p\.yaml:12:\d+ {2}spec\.steps\[0\]\.action\.with .*colour/),
  ]);
  expect(await problemsOf(playbook(step("      action: { do: restart-unit }")))).toEqual([
    expect.stringMatching(/^p\.yaml:\d+:\d+ {2}spec\.steps\[0\]\.action\.with\.unit /),
  ]);
});

test("what the schema refuses has its place, too", async () => {
  expect(
    await problemsOf(
      playbook(`${step("      action: { do: wait }")}\n${step("      action: { do: wait }")}`),
    ),
  ).toEqual([expect.stringMatching(/^p\.yaml:13:\d+ {2}spec\.steps\[1\]\.id is used twice/)]);
  expect(
    await problemsOf(
      playbook(step("      action: { do: wait }").replace("role: any", "role: any, pick: target")),
    ),
  ).toEqual([
    expect.stringMatching(/^p\.yaml:10:\d+ {2}spec\.steps\[0\]\.hosts\.pick needs a playbook whose target/),
  ]);
  expect(await problemsOf(playbook(step("      action: { do: wait }\n      rollin: together")))).toEqual([
    expect.stringMatching(/^p\.yaml:13:7 .*rollin.*did you mean rolling\?/),
  ]);
  expect(await problemsOf("kind: Playbook\n  x: [")).not.toEqual([]);
});
