/** The commands as a person types them, against a real store and a real table. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { installGuard } from "../../../src/store/guard-schema.ts";
import { Bench } from "../../store/bench.ts";
import { testJob } from "../../support/job.ts";
import { runEscapement } from "../../support/processes.ts";
import { end, opened } from "./plant.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "diagnose-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

/** A job with one execution that was killed for good, and what its row says about the time. */
async function killed(): Promise<{ bench: Bench; fire: Date; endedAt: Date }> {
  const bench = await Bench.open();
  const job = await bench.apply(testJob("settlement"));
  const [fire] = await opened(bench, job, -1_000);
  const executor = await bench.executor();
  await end(bench, executor, await bench.claim(executor), { outcome: "failed", error: "killed by SIGKILL" });
  const endedAt = await bench.value<Date>("SELECT end_time FROM escapement.shard_attempt");
  return { bench, fire: fire!, endedAt };
}

test("diagnose: text, JSON, exit codes, and the kernel's word for it", async () => {
  const { bench, fire, endedAt } = await killed();
  const text = await runEscapement(["diagnose", "--url", bench.url, "--evidence"]);
  expect(text.code).toBe(1);
  expect(text.stdout).toContain(`settlement  ${fire.toISOString()}  interrupted  likely oom-kill`);
  expect(text.stdout).toMatch(/shard_attempt: .*outcome=failed/);
  expect(text.stdout).toMatch(/next: journalctl -k --since/);
  expect(text.stderr).toContain("1 went wrong");

  const journal = join(folder(), "kernel.json");
  const entry = (message: string) =>
    JSON.stringify({
      __REALTIME_TIMESTAMP: `${endedAt.getTime()}000`,
      _HOSTNAME: "exec-1",
      MESSAGE: message,
    });
  writeFileSync(journal, `{"cut\n${entry("usb 1-1: new device")}\n`);
  const other = await runEscapement(["diagnose", "--url", bench.url, "--journal", journal, "--json"]);
  expect(JSON.parse(other.stdout).diagnoses).toMatchObject([{ cause: "oom-kill", certain: false }]);
  writeFileSync(journal, "kind: Cluster\n");
  const none = await runEscapement(["diagnose", "--url", bench.url, "--journal", journal]);
  expect(none.stderr).toMatch(/holds no kernel message/);
  expect(other.stderr).not.toMatch(/holds no kernel message/);
  for (const url of ["http://x", "postgres://a@127.0.0.1:99999/x"])
    expect((await runEscapement(["diagnose", "--url", bench.url, "--guard", url])).code).toBe(64);
  expect((await runEscapement(["status", "--url", "postgres://a@127.0.0.1:99999/x"])).code).toBe(64);
  writeFileSync(
    journal,
    entry("Memory cgroup out of memory: Killed process 4711 (sort) total-vm:1kB, anon-rss:1kB"),
  );
  const sure = await runEscapement(["diagnose", "--url", bench.url, "--journal", journal, "--json"]);
  expect(JSON.parse(sure.stdout)).toMatchObject({
    schemaVersion: 1,
    truncated: false,
    diagnoses: [{ class: "interrupted", cause: "oom-kill", certain: true, job: "default/settlement" }],
  });

  const nothing = await runEscapement(["diagnose", "--url", bench.url, "--to", "2020-01-01T00:00:00Z"]);
  expect([nothing.code, nothing.stdout]).toEqual([0, ""]);
  const backwards = ["--from", "2026-07-02T00:00:00Z", "--to", "2026-07-01T00:00:00Z"];
  expect((await runEscapement(["diagnose", "--url", bench.url, ...backwards])).code).toBe(64);
  expect((await runEscapement(["diagnose", "--url", bench.url, "--job", "setlement"])).stderr).toContain(
    "did you mean settlement?",
  );
}, 120_000);

test("diagnose --guard: calls in doubt make a failure a half-written one", async () => {
  const { bench, fire } = await killed();
  const without = await runEscapement(["diagnose", "--url", bench.url, "--guard", bench.url]);
  expect([without.code, without.stderr]).toEqual([69, expect.stringContaining("the guard is not installed")]);
  await installGuard(bench.db);
  const key = `default/settlement/${fire.toISOString()}`;
  const insert = `INSERT INTO escapement_guard.external_call (key, key_date, state, receiver, deduplicating, request, request_digest, token, begin_txid, lease_until)
    VALUES ($1, current_date, $2, 'bank', false, '{}', 'x', 1, 1, clock_timestamp())`;
  await bench.db.query(insert, [`${key}0/not-its-own`, "in-doubt"]);
  const foreign = await runEscapement(["diagnose", "--url", bench.url, "--guard", bench.url, "--json"]);
  expect(JSON.parse(foreign.stdout).diagnoses).toMatchObject([{ class: "interrupted" }]);
  await bench.db.query(insert, [`${key}/u1`, "in-doubt"]);
  const found = await runEscapement(["diagnose", "--url", bench.url, "--guard", bench.url, "--json"]);
  expect(JSON.parse(found.stdout).diagnoses).toMatchObject([{ class: "partial", cause: "oom-kill" }]);
}, 120_000);

test("diagnose duplicates: table, CSV without formulas, and which executions wrote them", async () => {
  const { bench } = await killed();
  const id = await bench.value<string>("SELECT execution_id FROM escapement.execution");
  await bench.db.query("CREATE TABLE payout (who text, amount numeric(18, 2), execution_id uuid)");
  await bench.db.query(
    "INSERT INTO payout VALUES ('=HYPERLINK(1)', -12.50, $1), ('=HYPERLINK(1)', -12.50, $1), ('b', 1, NULL)",
    [id],
  );
  const file = join(folder(), "double.csv");
  const args = [
    "diagnose",
    "duplicates",
    "--url",
    bench.url,
    "--table",
    "payout",
    "--key",
    "who",
    "--amount",
  ];
  const found = await runEscapement([...args, "amount", "--records", bench.url, "-o", file]);
  expect(found.code).toBe(1);
  expect(found.stdout).toContain("1 key(s) more than once, 1 row(s) too many, surplus -12.50");
  expect(found.stdout).toContain(`${id}  default/settlement at `);
  expect(readFileSync(file, "utf8")).toBe(
    `who,times,total,surplus,amounts_differ,written_by\r\n'=HYPERLINK(1),2,-25.00,-12.50,no,execution_id ${id}\r\n`,
  );
  const json = await runEscapement([...args, "amount", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ keys: 1, surplus: "-12.50", duplicates: [{ times: 2 }] });
  const full = await runEscapement([...args, "amount", "-o", "/dev/full"]);
  expect([full.code, full.stderr]).toEqual([69, expect.stringContaining("cannot write /dev/full: ")]);
  await bench.db.query("INSERT INTO payout VALUES (E'two\nlines', 1, NULL), (E'two\nlines', 1, NULL)");
  expect((await runEscapement([...args, "amount"])).stdout).toContain("two lines");
  const wrong = await runEscapement([...args, "amuont"]);
  expect([wrong.code, wrong.stderr]).toEqual([64, expect.stringContaining("did you mean amount?")]);
}, 120_000);

test("explain-fire: a sentence first, JSON with the records, and a time that cannot be read", async () => {
  const { bench, fire } = await killed();
  const at = fire.toISOString();
  const text = await runEscapement(["explain-fire", "settlement", at, "--url", bench.url]);
  expect(text.code).toBe(1);
  expect(text.stdout).toMatch(/although the schedule in force has no fire then/);
  expect(text.stdout).toContain("Verdict: interrupted, likely because of oom-kill");
  const json = await runEscapement(["explain-fire", "settlement", at, "--url", bench.url, "--json"]);
  expect(JSON.parse(json.stdout).explanations).toMatchObject([
    { time: at, records: { attempts: [{ outcome: "failed" }] }, diagnosis: { class: "interrupted" } },
  ]);
  const bad = await runEscapement(["explain-fire", "settlement", "noonish", "--url", bench.url]);
  expect([bad.code, bad.stderr]).toEqual([64, expect.stringContaining("TIME")]);
}, 120_000);
