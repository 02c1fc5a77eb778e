/** `escapement alerts`: what people see and do, as commands. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { runEscapement } from "../support/processes.ts";
import { Receiver } from "../support/receiver.ts";
import { DeskRehearsal, finding, told } from "./desk-rehearsal.ts";

test("list, ack, silence, unsilence: seen by the watchman, kept with the records", async () => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver);
  desk.now = new Date();
  const run = (...args: string[]) => runEscapement(["alerts", ...args, "--url", desk.url]);
  expect(await run("list")).toMatchObject({ code: 0, stdout: "no open alerts\n" });
  const seen = [finding("a", { severity: "critical", job: "payroll/bonus" })];
  await desk.passes(2, seen);
  const list = await run("list");
  expect(list).toMatchObject({ code: 1 });
  expect(list.stdout).toMatch(/critical +open +a +ops +a is late\./);
  expect(JSON.parse((await run("list", "--json")).stdout)).toMatchObject({
    alerts: [{ key: "a", job: "payroll/bonus", channels: ["ops"], resolved: null }],
    channels: [{ channel: "ops", pending: 0 }],
  });

  expect(await run("ack", "nothing", "--reason", "r")).toMatchObject({ code: 4 });
  const ack = await run("ack", "a", "nothing", "--reason", "on it", "--by", "sam");
  expect(ack).toMatchObject({ code: 3, stdout: "a: acknowledged\nnothing: no open alert has this key\n" });
  expect(await run("list")).toMatchObject({ code: 0, stdout: expect.stringMatching(/acknowledged by sam/) });

  const silence = await run(
    "silence",
    "--job",
    "payroll/*",
    "--for",
    "2h",
    "--reason",
    "move",
    "--by",
    "sam",
    "--json",
  );
  const { silenceId } = JSON.parse(silence.stdout);
  const other = finding("b", { job: "payroll/other" });
  await desk.passes(3, [...seen, other]);
  expect(told(receiver)).toEqual(["open a"]);
  expect((await run("list")).stdout).toMatch(/quiet +b[\s\S]*job payroll\/\* +move/);
  expect(await run("unsilence", String(silenceId), "--reason", "done")).toMatchObject({ code: 0 });
  expect(await run("unsilence", String(silenceId), "--reason", "done")).toMatchObject({ code: 4 });
  await desk.pass([...seen, other]);
  expect(told(receiver)).toEqual(["open a", "open b"]);
  const deeds = await desk.rows(
    "SELECT action, person, reason FROM escapement.operation ORDER BY operation_id",
  );
  expect(deeds.map(({ action }) => action)).toEqual([
    "acknowledge-alert",
    "silence-alerts",
    "unsilence-alerts",
  ]);
  expect(deeds[0]).toMatchObject({ person: "sam", reason: "on it" });
});

test.each([
  ["nothing named", ["--for", "1h"], /name what shall be silent/],
  ["an empty name", ["--job", "", "--for", "1h"], /--job names nothing/],
  ["no end", ["--rule", "x"], /either --for or --until/],
  ["too long", ["--rule", "x", "--for", "31d"], /within the next 30 days/],
  ["an end that is past", ["--rule", "x", "--until", "2020-01-01T00:00:00Z"], /within the next 30 days/],
  ["a severity that is none", ["--severity", "bad", "--for", "1h"], /one of info, warning, critical/],
])("a silence with %s is refused", async (_what, args, message) => {
  const receiver = await Receiver.open();
  const desk = await DeskRehearsal.open(receiver);
  const result = await runEscapement(["alerts", "silence", ...args, "--reason", "r", "--url", desk.url]);
  expect(result.code).toBe(64);
  expect(result.stderr).toMatch(message);
});

test("test sends through every channel and says who accepted; a wrong file exits 65 with its place", async () => {
  const receiver = await Receiver.open();
  receiver.answer = ({ path }) => ({ status: path === "/bad" ? 500 : 200 });
  const folder = mkdtempSync(join(tmpdir(), "alerts-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "watch.yaml");
  const text = `apiVersion: escapement/v1
kind: Watch
metadata: { name: test }
spec:
  spoolFile: spool
  channels:
    - { name: ops, type: webhook, url: "${receiver.url}/ops", secretEnv: WATCH_KEY }
    - { name: bad, type: webhook, url: "${receiver.url}/bad", secretEnv: WATCH_KEY }
    - { name: page, type: exec, command: ["/bin/true"] }
  routes: [{ channels: [ops] }]
`;
  writeFileSync(file, text);
  const run = (environment: Record<string, string>, ...args: string[]) =>
    runEscapement(["alerts", "test", "--watch", file, ...args], { environment });
  const key = { WATCH_KEY: "do-not-show" };
  const some = await run(key);
  expect(some.code).toBe(3);
  expect(some.stderr).toMatch(/not recorded: .* this watch file has no spec\.testAlert/);
  expect(some.stdout).toMatch(
    /ops +webhook +accepted\s[\s\S]*bad +webhook +not accepted +HTTP 500[\s\S]*page +exec +accepted/,
  );
  expect(some.stdout + some.stderr).not.toMatch(/do-not-show/);
  expect(told(receiver)).toEqual([expect.stringMatching(/^test test-alert:/)]);
  expect(await run(key, "--channel", "page")).toMatchObject({ code: 0 });
  expect(await run(key, "--channel", "bad")).toMatchObject({ code: 1 });
  expect(await run(key, "--channel", "nobody")).toMatchObject({ code: 64 });
  expect(await run({}, "--channel", "ops")).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/WATCH_KEY is not set/),
  });
  writeFileSync(file, text.replace("channels: [ops]", "channels: [opps]"));
  const wrong = await run(key);
  expect(wrong.code).toBe(65);
  expect(wrong.stderr).toMatch(/watch\.yaml:10:25 .*not one of the channels.*did you mean ops/);
});
