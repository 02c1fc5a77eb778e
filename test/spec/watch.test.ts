/** Watch files: what is missing, wrong or would let alerts fall through, with its place. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { formatProblem } from "../../src/spec/problem.ts";
import { defaultWatchSettings } from "../../src/watchman/settings.ts";
import { readWatchFile, watchSettings } from "../../src/watchman/watch-file.ts";

const smallest = `apiVersion: escapement/v1
kind: Watch
metadata: { name: small }
spec:
  spoolFile: state/spool
  channels:
    - { name: ops, type: webhook, url: https://alerts.example.com/in, secretFile: secrets/ops }
  routes:
    - channels: [ops]
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "watch-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function load(text: string) {
  const file = join(folder, "watch.yaml");
  writeFileSync(file, text);
  const { watch, problems } = await readWatchFile(file);
  return { watch, problems: problems.map((problem) => formatProblem(problem).replace(`${folder}/`, "")) };
}

test("the smallest file has every setting, and its paths start at its file", async () => {
  const { watch, problems } = await load(smallest);
  expect(problems).toEqual([]);
  expect(watch).toMatchObject({
    name: "small",
    everyMs: 30_000,
    startUpGraceMs: 120_000,
    http: { address: "127.0.0.1", port: 7072 },
    spoolFile: join(folder, "state/spool"),
    rules: {},
    channels: [
      {
        name: "ops",
        type: "webhook",
        timeoutMs: 10_000,
        url: { from: "plain", value: "https://alerts.example.com/in" },
        secret: { from: "file", file: join(folder, "secrets/ops") },
      },
    ],
    routes: [{ match: {}, channels: ["ops"], fallback: [] }],
    silences: [],
    windows: [],
    delivery: {
      retryFirstMs: 5_000,
      retryCapMs: 300_000,
      fallbackAfter: 3,
      keepTryingMs: 7 * 86_400_000,
      digestAbove: 10,
      digestAfterMs: 900_000,
    },
  });
});

test("without thresholds in the file, the rules judge as without a file", async () => {
  const { watch } = await load(smallest);
  const { limitsOf, ...settings } = watchSettings(watch!, { schedulers: [], executors: [] });
  const { limitsOf: defaultLimitsOf, ...defaults } = defaultWatchSettings;
  expect(settings).toEqual(defaults);
  expect(limitsOf("a/b")).toEqual(defaultLimitsOf("a/b"));
});

test("limits of jobs: the first that fits counts", async () => {
  const { watch } = await load(`${smallest}  jobs:
    - { job: "payroll/*", grace: 5m, deadline: 2h }
    - { job: report, grace: 0s }
`);
  const { limitsOf } = watchSettings(watch!, { schedulers: [], executors: [] });
  expect(limitsOf("payroll/bonus")).toMatchObject({ graceMs: 300_000, deadlineMs: 7_200_000 });
  expect(limitsOf("default/report")).toMatchObject({ graceMs: 0, deadlineMs: null });
  expect(limitsOf("other/report")).toMatchObject({ graceMs: 60_000, deadlineMs: null });
});

const channel = (text: string) => smallest.replace(/\{ name: ops.*\}/, text);
const more = (text: string) => `${smallest}${text}\n`;

test.each<[what: string, text: string, problem: RegExp]>([
  ["no file of ours", "a: 1", /^watch.yaml:1:1 {2}kind is missing/],
  ["another kind", smallest.replace("kind: Watch", "kind: Wotch"), /^watch.yaml:2:7 .*did you mean Watch/],
  [
    "two of them",
    `${smallest}---\n${smallest.replace("small", "second")}`,
    /^watch.yaml:11:1 .*second kind: Watch/,
  ],
  ["no channels", smallest.replace(/ {2}channels:\n.*\n/, ""), /^watch.yaml:4:1 .*spec.channels is missing/],
  [
    "an unknown type",
    channel("{ name: ops, type: pigeon }"),
    /^watch.yaml:7:26 .*channels\[0\].type.*choices: webhook, alertmanager, exec, pagerduty, slack, smtp/,
  ],
  [
    "a webhook without a key",
    channel("{ name: ops, type: webhook, url: https://h/x }"),
    /^watch.yaml:7:7 .*exactly one of secretFile and secretEnv/,
  ],
  [
    "a key in the file itself",
    channel("{ name: ops, type: webhook, url: https://h/x, secret: abc }"),
    /^watch.yaml:7:53 .*secret is not a known field/m,
  ],
  [
    "two URLs",
    channel("{ name: ops, type: webhook, url: https://h/x, urlEnv: U, secretEnv: S }"),
    /^watch.yaml:7:7 .*exactly one of url, urlFile and urlEnv/,
  ],
  [
    "a password in a URL",
    channel("{ name: ops, type: webhook, url: https://u:hunter2@h/x, secretEnv: S }"),
    /^watch.yaml:7:40 .*no user or password/,
  ],
  [
    "a Slack URL in the file",
    channel("{ name: ops, type: slack, url: https://hooks.example.com/T/B/x }"),
    /^watch.yaml:7:33 .*url is not a known field/m,
  ],
  [
    "a shell line",
    channel("{ name: ops, type: exec, command: page ops }"),
    /^watch.yaml:7:41 .*there is no shell.*did you mean \[page, ops\]/,
  ],
  [
    "a mail address",
    channel("{ name: ops, type: smtp, host: h, port: 25, security: none, from: ops, to: [a@b.c] }"),
    /^watch.yaml:7:73 .*mail address/,
  ],
  [
    "a password in plain text",
    channel(
      "{ name: ops, type: smtp, host: h, port: 25, security: none, user: u, passwordEnv: P, from: a@b.c, to: [a@b.c] }",
    ),
    /^watch.yaml:7:61 .*starttls or tls where a password/,
  ],
  [
    "a channel twice",
    smallest.replace("  routes:", "    - { name: ops, type: exec, command: [page] }\n  routes:"),
    /^watch.yaml:8:15 .*used twice/,
  ],
  [
    "a route to nowhere",
    smallest.replace("[ops]", "[opss]"),
    /^watch.yaml:9:18 .*not one of the channels.*did you mean ops/,
  ],
  [
    "a fallback to nowhere",
    smallest.replace("[ops]", "[ops]\n      fallback: [pager]"),
    /^watch.yaml:10:18 .*not one of the channels/,
  ],
  [
    "a hole",
    smallest.replace("- channels", "- match: { severity: [critical] }\n      channels"),
    /^watch.yaml:9:7 .*must fit everything, being the last/,
  ],
  ["a route that hides the next", more("    - channels: [ops]"), /^watch.yaml:9:7 .*never used/],
  [
    "an escalation to nobody",
    smallest.replace("[ops]", "[ops]\n      escalateAfter: 5m"),
    /^watch.yaml:9:7 .*escalateAfter and escalateTo together/,
  ],
  [
    "an unknown rule",
    more("  rules:\n    no-leeder: { enabled: false }"),
    /^watch.yaml:11:5 .*did you mean no-leader/,
  ],
  [
    "a silence of everything",
    more('  silences:\n    - { match: {}, until: "2026-07-01T00:00:00Z", reason: r, by: b }'),
    /^watch.yaml:11:16 .*silence everything/,
  ],
  [
    "a silence of everything, said with a star",
    more(
      '  silences:\n    - { match: { rule: ["*"], severity: [info, warning, critical] }, until: "2026-07-01T00:00:00Z", reason: r, by: b }',
    ),
    /^watch.yaml:11:16 .*silence everything/,
  ],
  [
    "a silence that nobody will remember",
    more('  silences:\n    - { match: { rule: [x] }, until: "2999-07-01T00:00:00Z", reason: r, by: b }'),
    /silences\[0\].until must lie at most 90 days ahead/,
  ],
  [
    "a window that lasts for years",
    more("  windows:\n    - { from: 2026-01-01T00:00:00Z, to: 2027-01-01T00:00:00Z, reason: r }"),
    /windows\[0\].to must be at most 31 days after from/,
  ],
  [
    "a silence without an end",
    more("  silences:\n    - { match: { rule: [x] }, reason: r, by: b }"),
    /^watch.yaml:11:7 .*until is missing.*instant/,
  ],
  [
    "a silence until a local time",
    more('  silences:\n    - { match: { rule: [x] }, until: "2026-07-01T00:00:00", reason: r, by: b }'),
    /^watch.yaml:11:38 .*instant with its offset/,
  ],
  [
    "a window with a wrong cron",
    more('  windows:\n    - { cron: "0 25 * * *", duration: 1h, zone: UTC, reason: r }'),
    /^watch.yaml:11:15 .*windows\[0\].cron cron expression.*25/,
  ],
  [
    "a window that never opens",
    more('  windows:\n    - { cron: "0 0 30 2 *", duration: 1h, zone: UTC, reason: r }'),
    /^watch.yaml:11:15 .*never fires/,
  ],
  [
    "a window in no zone",
    more('  windows:\n    - { cron: "0 2 * * *", duration: 1h, zone: Berlin, reason: r }'),
    /^watch.yaml:11:48 .*did you mean Europe\/Berlin/,
  ],
  [
    "a window of both kinds",
    more(
      '  windows:\n    - { cron: "0 2 * * *", duration: 1h, zone: UTC, from: "2026-07-01T00:00:00Z", reason: r }',
    ),
    /^watch.yaml:11:7 .*cron, duration and zone, or from and to/,
  ],
  [
    "a window that ends before it begins",
    more('  windows:\n    - { from: "2026-07-02T00:00:00Z", to: "2026-07-01T00:00:00Z", reason: r }'),
    /^watch.yaml:11:43 .*must be after from/,
  ],
  [
    "a test alert that never comes",
    more('  testAlert: { cron: "0 0 31 4 *", zone: UTC }'),
    /^watch.yaml:10:22 .*testAlert.cron.*never fires/,
  ],
  ["a time without a unit", more("  every: 30"), /^watch.yaml:10:10 .*did you mean 30s/],
  [
    "clocks the wrong way round",
    more("  thresholds: { clockWarn: 2s }"),
    /^watch.yaml:10:28 .*less than clockCritical/,
  ],
])("%s", async (_what, text, problem) => {
  const { watch, problems } = await load(text);
  expect(problems.join("\n")).toMatch(problem);
  expect(problems.join("\n")).not.toMatch(/hunter2|abc|T\/B\/x/);
  expect(watch).toBeUndefined();
});

test("one problem does not hide the others", async () => {
  const text = smallest.replace("[ops]", "[x]").replace("name: ops", "name: y");
  expect((await load(more(`  rules: { z: {} }`))).problems).toHaveLength(1);
  expect(
    (await load(`${text}  rules: { z: {} }\n  testAlert: { cron: "x", zone: UTC }\n`)).problems,
  ).toHaveLength(3);
});

test("the example of the documentation is right", async () => {
  const page = readFileSync(new URL("../../docs/watch-files.md", import.meta.url), "utf8");
  const example = /```yaml\n(apiVersion[\s\S]*?)```/.exec(page)![1]!;
  const { watch, problems } = await load(example);
  expect(problems).toEqual([]);
  expect(watch?.channels).toHaveLength(3);
  for (const [, piece = ""] of page.matchAll(/```yaml\n( {2}[\s\S]*?)```/g))
    expect((await load(`${smallest}${piece}`)).problems, piece).toEqual([]);
});
