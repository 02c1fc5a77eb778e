/** The judges of money: a penny off and a second payout are found, wherever they are. */
import { describe, expect, test } from "vitest";
import type { ExpectedFire } from "../../src/lab/demo/expected-fire.ts";
import { verdictOf } from "../../src/lab/demo/finding.ts";
import { judgePayouts, judgeSnapshots } from "../../src/lab/demo/judge-effects.ts";
import type { JudgedFire } from "../../src/lab/demo/judge-fires.ts";
import { judgeSettlement } from "../../src/lab/demo/judge-settlement.ts";
import type { SettledRow } from "../../src/lab/demo/ledger.ts";
import { generatePayments } from "../../src/lab/demo/payment-generator.ts";

const payments = generatePayments(5, ["2026-06", "2026-07"]);

/** What a right settlement looks like, reckoned in another way than the judge does. */
function settledRows(): SettledRow[] {
  const rows = new Map<string, { period: string; supplier: string; payments: number; pence: number }>();
  for (const { period, supplier, pence } of payments) {
    const row = rows.get(`${period}/${supplier}`) ?? { period, supplier, payments: 0, pence: 0 };
    row.payments += 1;
    row.pence += pence;
    rows.set(`${period}/${supplier}`, row);
  }
  return [...rows.values()];
}

describe("settlement", () => {
  const change = (at: number, by: Partial<SettledRow>) =>
    settledRows().map((row, i) => (i === at ? { ...row, ...by } : row));
  const rows = settledRows();

  test("a right one has nothing to complain about, and its totals are the input's", () => {
    const { periods, findings } = judgeSettlement(payments, rows);
    expect(findings).toEqual([]);
    expect(
      periods.map(({ period, payments: count, differencePence }) => [period, count, differencePence]),
    ).toEqual([
      ["2026-06", 10_000, 0],
      ["2026-07", 10_000, 0],
    ]);
    const june = payments.filter(({ period }) => period === "2026-06");
    expect(periods[0]!.settledPence).toBe(june.reduce((sum, { pence }) => sum + pence, 0));
  });

  test.each([1, -1])("%i penny off in one row is found", (penny) => {
    const { periods, findings } = judgeSettlement(payments, change(17, { pence: rows[17]!.pence + penny }));
    expect(findings).toEqual([{ kind: "wrong", what: expect.stringContaining(rows[17]!.supplier) }]);
    expect(periods[0]!.differencePence).toBe(penny);
    expect(verdictOf(findings)).toBe("fail");
  });

  test("two errors that make up for each other are found both", () => {
    const crossed = change(3, { pence: rows[3]!.pence + 100 }).map((row, i) =>
      i === 4 ? { ...row, pence: row.pence - 100 } : row,
    );
    const { periods, findings } = judgeSettlement(payments, crossed);
    expect(periods[0]!.differencePence).toBe(0);
    expect(findings.map(({ kind }) => kind)).toEqual(["wrong", "wrong"]);
  });

  test("a missing row, a doubled one, one of nobody and one of another month are found", () => {
    expect(judgeSettlement(payments, rows.slice(1)).findings).toMatchObject([{ kind: "lost" }]);
    expect(judgeSettlement(payments, [...rows, rows[9]!]).findings).toMatchObject([{ kind: "doubled" }]);
    expect(judgeSettlement(payments, [...rows, { ...rows[9]!, supplier: "S-9999" }]).findings).toMatchObject([
      { kind: "unexpected" },
    ]);
    expect(judgeSettlement(payments, [...rows, { ...rows[9]!, period: "2026-08" }]).findings).toMatchObject([
      { kind: "unexpected" },
    ]);
    expect(judgeSettlement(payments, change(0, { payments: rows[0]!.payments + 1 })).findings).toMatchObject([
      { kind: "wrong" },
    ]);
  });

  test("nothing settled at all is a short list with the rest counted", () => {
    const { findings } = judgeSettlement(payments, []);
    expect(findings.length).toBe(21);
    expect(findings.at(-1)!.what).toMatch(/and \d+ more/);
  });
});

const people = [
  { person: "P-1", bonusPence: 2_500 },
  { person: "P-2", bonusPence: 9_999 },
];

function fire(
  fireMs: number,
  outcome: JudgedFire["outcome"] = "done",
  job = "finance/bonus-payout",
): JudgedFire {
  const expected: ExpectedFire = { job, fireMs, period: null, shards: 4, trigger: "schedule" };
  return { expected, record: null, outcome };
}

function accepted(fireMs: number) {
  return people.map(({ person, bonusPence }) => ({
    key: `finance/bonus-payout/${fireMs}/${person}`,
    job: "finance/bonus-payout",
    fireMs,
    person,
    pence: bonusPence,
  }));
}

describe("payouts", () => {
  const fires = [fire(1_000), fire(6_000)];
  const all = [...accepted(1_000), ...accepted(6_000)];

  test("each person once for each fire is right", () => {
    expect(judgePayouts(fires, people, all)).toEqual({
      due: 4,
      duePence: 2 * 12_499,
      received: 4,
      receivedPence: 2 * 12_499,
      findings: [],
    });
  });

  test("a second payout under another key is found", () => {
    const twice = [...all, { ...all[0]!, key: "another" }];
    const { findings } = judgePayouts(fires, people, twice);
    expect(findings).toEqual([{ kind: "doubled", what: expect.stringMatching(/P-1 was paid .* 2 times/) }]);
    expect(verdictOf(findings)).toBe("fail");
  });

  test("a missing payout, a penny too much, a fire that was not due and a stranger are found", () => {
    expect(judgePayouts(fires, people, all.slice(1)).findings).toMatchObject([{ kind: "lost" }]);
    const penny = [{ ...all[0]!, pence: all[0]!.pence + 1 }, ...all.slice(1)];
    expect(judgePayouts(fires, people, penny).findings).toMatchObject([{ kind: "wrong" }]);
    expect(judgePayouts(fires, people, [...all, ...accepted(11_000)]).findings).toMatchObject([
      { kind: "unexpected" },
      { kind: "unexpected" },
    ]);
    expect(judgePayouts(fires, people, [...all, { ...all[0]!, person: "P-9" }]).findings).toMatchObject([
      { kind: "unexpected" },
    ]);
  });

  test("a payout of a fire that was entered as missed is found, and one that was not made is right", () => {
    const missed = [fire(1_000), fire(6_000, "missed")];
    expect(judgePayouts(missed, people, accepted(1_000)).findings).toEqual([]);
    expect(judgePayouts(missed, people, all).findings).toMatchObject([
      { kind: "unexpected" },
      { kind: "unexpected" },
    ]);
  });
});

describe("snapshots", () => {
  const job = "finance/rates-refresh";
  const fires = [fire(1_000, "done", job), fire(4_000, "caught-up", job), fire(7_000, "missed", job)];
  const right = [
    { job, fireMs: 1_000, count: 1 },
    { job, fireMs: 4_000, count: 1 },
  ];

  test("one for each fire that ran, none for one that was missed", () => {
    expect(judgeSnapshots(fires, right)).toEqual({ due: 2, taken: 2, findings: [] });
  });

  test.each([
    ["lost", [right[0]!]],
    ["doubled", [right[0]!, { ...right[1]!, count: 2 }]],
    ["unexpected", [...right, { job, fireMs: 7_000, count: 1 }]],
    ["unexpected", [...right, { job, fireMs: 8_000, count: 1 }]],
  ])("%s", (kind, snapshots) => {
    expect(judgeSnapshots(fires, snapshots).findings).toMatchObject([{ kind }]);
  });
});
