/** What a run is held against, and which runs are a measure for later ones. */
import { expect, test } from "vitest";
import type { StoreProbe } from "../../../src/checklist/context.ts";
import { findBaseline, recordRun } from "../../../src/cli/checklist/baseline.ts";
import { head, reportOf } from "../../checklist/fake-report.ts";

/** A store that keeps every statement, and answers as it is told. */
function store(answer: () => Promise<unknown>) {
  const asked: string[] = [];
  const query = (text: string) => {
    asked.push(text);
    return answer();
  };
  const probe = { state: "open", db: { query }, now: async () => new Date() } as unknown as StoreProbe;
  return { asked, probe };
}

const never = () => new Promise<unknown>(() => {});

test("a run that was stopped looks for none, and waits for none", async () => {
  const stopped = store(never);
  expect(await findBaseline(undefined, stopped.probe, AbortSignal.abort())).toBeUndefined();
  expect(stopped.asked).toEqual([]);

  const stop = new AbortController();
  const locked = store(async () => {
    stop.abort();
    return never();
  });
  expect(await findBaseline(undefined, locked.probe, stop.signal)).toBeUndefined();
  expect(locked.asked).toHaveLength(1);
});

test("only whole runs of the usual window are recorded", async () => {
  const to = new Date("2026-07-01T02:00:00.000Z");
  const days = (count: number) => new Date(to.getTime() - count * 86_400_000).toISOString();
  const recorded = async (change: Parameters<typeof head>[0]) => {
    const { asked, probe } = store(async () => ({ rows: [] }));
    await recordRun(await reportOf({}, { head: head(change) }), probe);
    return asked.length;
  };
  const usual = { from: days(400), to: to.toISOString() };
  expect(await recorded({ window: usual })).toBe(1);
  expect(await recorded({ window: { ...usual, from: days(30) } })).toBe(0);
  expect(await recorded({ window: { ...usual, from: days(500) } })).toBe(0);
  expect(await recorded({ window: usual, asked: { items: [1], job: null } })).toBe(0);
});
