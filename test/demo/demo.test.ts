/** The demo for real: its verdict, its figures, and that nothing of it is left, whatever ends it. */
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { parsePence } from "../../src/lab/demo/money.ts";
import { processesWith } from "../../src/lab/strays.ts";
import { runEscapement, startEscapement, startProcess } from "../support/processes.ts";
import { until } from "../support/until.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** Less than a minute where it has two cores to itself; tests of other things run beside it. */
const patienceMs = 300_000;

/** Every temporary folder of the demo is inside this one, and every process of it has it in its environment. */
function ownTemporaryFolder(): { environment: Record<string, string>; nothingLeft(): Promise<void> } {
  const folder = mkdtempSync(join(tmpdir(), "escapement-t-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // The user that PostgreSQL is lent must be able to enter.
  chmodSync(folder, 0o755);
  return {
    environment: { TMPDIR: folder },
    async nothingLeft() {
      await until(() => readdirSync(folder).length === 0, { what: "an empty temporary folder" });
      await until(() => processesWith([`TMPDIR=${folder}`]).length === 0, {
        what: "the end of its processes",
      });
    },
  };
}

interface Fire {
  readonly job: string;
  readonly fireTime: string;
  readonly outcome: string;
  readonly byHand: boolean;
  readonly shardsExpected: number;
  readonly shardsSucceeded: number;
  readonly attempts: number;
  readonly missedSeconds: number | null;
}

test("seeded, as JSON: killed, stopped, and nothing lost or doubled", { timeout: patienceMs }, async () => {
  const { environment, nothingLeft } = ownTemporaryFolder();
  const { code, stdout, stderr } = await runEscapement(["demo", "--seed", "11", "--json"], { environment });
  expect(code, stdout.slice(0, 3_000) + stderr).toBe(0);
  const result = JSON.parse(stdout);
  expect(result).toMatchObject({
    schemaVersion: 1,
    verdict: "pass",
    tier: "process",
    input: { seed: 11, payments: 30_000 },
  });

  // What was done was done, and hit something.
  const { leaderKill, executorKill } = result;
  expect(leaderKill.successor.node).not.toBe(leaderKill.node);
  expect(leaderKill.successor.epoch).toBeGreaterThan(leaderKill.epoch);
  expect(executorKill.lost.length).toBeGreaterThan(0);
  expect(executorKill.lost.every((attempt: { madeGood: boolean }) => attempt.madeGood)).toBe(true);
  expect(result.shardsRetried).toBeGreaterThanOrEqual(executorKill.lost.length);

  // Every fire is there once; seconds are where the schedules say.
  const fires: Fire[] = result.fires;
  expect(new Set(fires.map((fire) => `${fire.job} ${fire.fireTime}`)).size).toBe(fires.length);
  const byHand = fires.filter((fire) => fire.byHand);
  expect(byHand.map((fire) => [fire.shardsExpected, fire.shardsSucceeded])).toEqual([
    [33, 33],
    [33, 33],
    [33, 33],
  ]);
  for (const [job, step] of [
    ["bonus-payout", 5],
    ["rates-refresh", 3],
    ["limit-check", 3],
    ["intraday-report", 3],
  ] as const) {
    const seconds = fires
      .filter((fire) => fire.job === `finance/${job}`)
      .map((fire) => Date.parse(fire.fireTime) / 1_000);
    expect(seconds.length).toBeGreaterThan(3);
    expect(
      seconds.every((at, i) => at === seconds[0]! + i * step && at % step === 0),
      job,
    ).toBe(true);
  }
  const missed = fires.filter((fire) => fire.outcome === "missed").map((fire) => fire.job);
  expect(new Set(missed)).toEqual(new Set(["finance/intraday-report", "finance/limit-check"]));

  // Money: one payout for each person and fire, and the months add up.
  const payoutFires = fires.filter((fire) => fire.job === "finance/bonus-payout").length;
  expect(result.payouts).toMatchObject({ due: payoutFires * 48, received: payoutFires * 48 });
  expect(result.payouts.receivedPence).toBe(result.payouts.duePence);
  expect(result.payouts.requests).toBe(result.payouts.received + result.payouts.repeats);
  expect(result.settlement.length).toBe(3);
  for (const month of result.settlement) {
    expect(month).toMatchObject({ payments: 10_000, settledPayments: 10_000, differencePence: 0 });
    expect(month.settledPence).toBe(month.inputPence);
  }
  expect(result.refusals.length).toBe(2);
  expect(stderr).toMatch(/SIGKILL to scheduler-\d .*leader/);
  await nothingLeft();
});

test("programs that pay, write and add up wrongly are found out", { timeout: patienceMs }, async () => {
  const { environment, nothingLeft } = ownTemporaryFolder();
  const copy = mkdtempSync(join(tmpdir(), "escapement-sabotage-"));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  for (const part of ["bin", "dist", "examples", "package.json"])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const sabotage = (file: string, from: string, to: string) => {
    const path = join(copy, "examples/settlement", file);
    const text = readFileSync(path, "utf8");
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
  };
  // A key that changes with every attempt; a penny too much for one supplier; a fence that lets everybody pass.
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the program's own template
  sabotage("pay-bonus.mjs", "idempotencyKey}/", "idempotencyKey}/${process.env.ESCAPEMENT_ATTEMPT}/");
  sabotage("settle.mjs", "sum(pence)", "sum(pence) + (supplier_id = 'S-0100')::integer");
  sabotage("attempt.mjs", "f.token <= excluded.token", "true");
  const program = join(copy, "bin/escapement.mjs");
  const demo = await startProcess([process.execPath, program, "demo", "--json"], { environment });
  expect((await demo.exited).code, demo.stderr()).toBe(1);
  const { verdict, findings, settlement } = JSON.parse(demo.stdout());
  expect(verdict).toBe("fail");
  expect(settlement.map((month: { differencePence: number }) => month.differencePence)).toEqual([1, 1, 1]);
  const found = (kind: string, what: RegExp) =>
    findings.filter(
      (finding: { kind: string; what: string }) => finding.kind === kind && what.test(finding.what),
    ).length;
  expect(found("wrong", /^S-0100 in /)).toBe(3);
  expect(found("doubled", /was paid the bonus of .* 2 times/)).toBeGreaterThan(0);
  expect(found("doubled", /late write .* was not refused/)).toBe(1);
  await nothingLeft();
});

/** Two small months with the habits of real files. */
function writeMonths(folder: string): number {
  let total = 0;
  for (const month of ["2019-11", "2019-12"]) {
    const rows = ["row,payment_date,unit,supplier_id,amount"];
    for (let row = 1; row <= 300; row++) {
      const supplier = row % 4 === 0 ? "big" : `s${row % 37}`;
      const amount = row % 11 === 0 ? "-12.34" : `${row}.5`;
      const unit = row % 7 === 0 ? "" : '"Libraries, Archives"';
      // Every third row looks like the one before.
      const line =
        row % 3 === 0
          ? rows.at(-1)!.replace(/^\d+/, String(row))
          : `${row},${month}-15,${unit},${supplier},${amount}`;
      rows.push(line);
      total += parsePence(line.split(",").at(-1)!)!;
    }
    writeFileSync(join(folder, `paid-${month}.csv`), `${rows.join("\r\n")}\r\n`);
  }
  return total;
}

test("with --data, for people: the total is that of the files, and plain text when piped", {
  timeout: patienceMs,
}, async () => {
  const { environment, nothingLeft } = ownTemporaryFolder();
  const data = mkdtempSync(join(tmpdir(), "escapement-data-"));
  onTestFinished(() => rmSync(data, { recursive: true }));
  const pence = writeMonths(data);
  const { code, stdout, stderr } = await runEscapement(["demo", "--data", data], {
    environment: { ...environment, NO_COLOR: undefined },
  });
  expect(code, stdout + stderr).toBe(0);
  const total = (pence / 100).toLocaleString("en", { minimumFractionDigits: 2 });
  expect(stdout).toMatch(new RegExp(`^total +600 +${total} +${total} +0\\.00$`, "m"));
  expect(stdout).toMatch(/^2019-11 +300/m);
  expect(stdout).toContain("big has");
  expect(stdout).toMatch(/^PASS {2}nothing lost, nothing doubled$/m);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour codes start with ESC
  expect(stdout + stderr).not.toMatch(/\x1b/);
  await nothingLeft();
});

test("Ctrl-C ends everything, before the cluster is up as in the middle of its work", {
  timeout: patienceMs,
}, async () => {
  for (const moment of [/starting PostgreSQL/, /SIGKILL to executor/]) {
    const { environment, nothingLeft } = ownTemporaryFolder();
    const demo = await startEscapement(["demo"], { environment });
    await demo.seen(moment, 120_000);
    demo.kill("SIGINT");
    expect((await demo.exited).code).toBe(130);
    expect(demo.stdout()).toBe("");
    await nothingLeft();
  }
});

test("killed, or interrupted twice, it leaves no process behind", { timeout: patienceMs }, async () => {
  for (const signals of [["SIGKILL"], ["SIGTERM", "SIGTERM"]] as const) {
    const { environment } = ownTemporaryFolder();
    const demo = await startEscapement(["demo"], { environment });
    await demo.seen(/jobs applied/, 120_000);
    for (const signal of signals) demo.kill(signal);
    await demo.exited;
    await until(() => processesWith([`TMPDIR=${environment.TMPDIR}`]).length === 0, {
      what: "the end of its processes",
    });
  }
});

test("wrong input is refused before anything is started", async () => {
  const { environment, nothingLeft } = ownTemporaryFolder();
  const data = join(environment.TMPDIR!, "data");
  const wrong = async (...args: string[]) => runEscapement(["demo", ...args], { environment });
  expect(await wrong("--data", data)).toMatchObject({
    code: 65,
    stderr: expect.stringContaining("E_FILE_UNREADABLE"),
  });
  mkdirSync(data);
  writeFileSync(
    join(data, "2026-07.csv"),
    "row,payment_date,unit,supplier_id,amount\n1,2026-07-01,,s1,many\n",
  );
  expect(await wrong("--data", data)).toMatchObject({
    code: 65,
    stdout: "",
    stderr: expect.stringMatching(/2026-07\.csv:2 amount: many is not an amount/),
  });
  expect(await wrong("--seed", "x")).toMatchObject({ code: 64 });
  rmSync(data, { recursive: true });
  await nothingLeft();
});
