/** docs/prometheus: promtool accepts it, and it is whole. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { stringify } from "yaml";
import { unavailable } from "../support/tier.ts";
import { alertRules, alertsPath, dashboardPanels, expressions } from "./pages.ts";

const promtool = "/usr/bin/promtool";
const missing = unavailable("promtool", existsSync(promtool));

function checkRules(file: string): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(promtool, ["check", "rules", file], { encoding: "utf8" });
  return { status, output: stdout + stderr };
}

test.skipIf(missing)("promtool accepts the alert rules", () => {
  const { status, output } = checkRules(alertsPath);
  expect(output).toContain("SUCCESS");
  expect(status).toBe(0);
});

test.skipIf(missing)("promtool can read every expression of rules and dashboard", () => {
  const folder = mkdtempSync(join(tmpdir(), "promtool-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "rules.yaml");
  const check = (exprs: readonly string[]) => {
    const rules = exprs.map((expr, i) => ({ record: `check:n${i}`, expr }));
    writeFileSync(file, stringify({ groups: [{ name: "check", rules }] }));
    return checkRules(file);
  };
  expect(check(expressions()).output).toContain("SUCCESS");
  expect(check([...expressions(), "sum(("]).status).not.toBe(0);
});

/** [metric, its values a minute apart, the alert, the minute of the look, whether it fires] */
const stories = [
  [
    'escapement_watchman_oldest_waiting_seconds{channel="ops"}',
    "0+60x20",
    "EscapementAlertsWaiting",
    10,
    false,
  ],
  [
    'escapement_watchman_oldest_waiting_seconds{channel="ops"}',
    "0+60x20",
    "EscapementAlertsWaiting",
    14,
    true,
  ],
  ['escapement_watchman_channel_failures{channel="ops"}', "0+1x20", "EscapementChannelFailing", 9, true],
  ['escapement_watchman_channel_failures{channel="ops"}', "0 1 2 0x20", "EscapementChannelFailing", 9, false],
  ['escapement_watchman_test_accepted_seconds{channel="ops"}', "700000x9", "EscapementTestAlertOld", 5, true],
  [
    'escapement_watchman_test_accepted_seconds{channel="ops"}',
    "690000x9",
    "EscapementTestAlertOld",
    5,
    false,
  ],
  ["escapement_watchman_heartbeat_seconds", "0+60x20", "EscapementHeartbeatSilent", 9, false],
  ["escapement_watchman_heartbeat_seconds", "0+60x20", "EscapementHeartbeatSilent", 11, true],
] as const;

test.skipIf(missing)("the rules about deliveries fire when they should, and not before", () => {
  const folder = mkdtempSync(join(tmpdir(), "promtool-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "stories.yaml");
  const judge = (turn: boolean) => {
    const tests = stories.map(([series, values, alertname, minute, fires]) => ({
      interval: "1m",
      input_series: [{ series, values }],
      promql_expr_test: [
        {
          expr: `count(ALERTS{alertname="${alertname}",alertstate="firing"}) or vector(0)`,
          eval_time: `${minute}m`,
          exp_samples: [{ value: fires !== turn ? 1 : 0 }],
        },
      ],
    }));
    writeFileSync(file, stringify({ rule_files: [alertsPath], evaluation_interval: "1m", tests }));
    return spawnSync(promtool, ["test", "rules", file], { encoding: "utf8" });
  };
  const { status, stdout, stderr } = judge(false);
  expect(stdout + stderr).toContain("SUCCESS");
  expect(status).toBe(0);
  expect(judge(true).status).not.toBe(0);
});

test("every alert has a severity that the watchman knows, and says what is wrong", () => {
  const rules = alertRules();
  expect(rules.length).toBeGreaterThan(20);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { alert, labels, annotations } of rules) {
    expect(["info", "warning", "critical"], alert).toContain(labels?.severity);
    expect(annotations?.summary, alert).toMatch(/\S/);
  }
});

test("no two panels of the dashboard lie over each other, and each asks for something", () => {
  const panels = dashboardPanels();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = new Set<string>();
  for (const { title, gridPos, targets } of panels) {
    if (targets) expect(targets.length, title).toBeGreaterThan(0);
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1)
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(cells.has(`${x}:${y}`), `${title} at ${x}:${y}`).toBe(false);
        cells.add(`${x}:${y}`);
      }
  }
});
