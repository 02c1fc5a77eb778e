/** Whole frames: exactly as large as they may be, with every size and screen; and through ink as through the reducer. */
import { render } from "ink-testing-library";
import { createElement } from "react";
import { describe, expect, test } from "vitest";
import type { ExecutionRow } from "../../src/store/execution.ts";
import { App } from "../../src/tui/app.tsx";
import { frameArea } from "../../src/tui/screens/area.ts";
import { drawFrame } from "../../src/tui/screens/frame.ts";
import { startSession } from "../../src/tui/session.ts";
import { startState, topScreens } from "../../src/tui/state/state.ts";
import { lineWidth } from "../../src/tui/text/line.ts";
import { cluster, failedJob, openUi, sampleJob } from "../support/ui-state.ts";
import { until } from "../support/until.ts";

const sizes: readonly [number, number][] = [
  [80, 24],
  [200, 60],
  [60, 16],
  [100, 30],
  [132, 43],
  [61, 50],
  [200, 17],
];

describe.each(sizes)("%i × %i", (columns, rows) => {
  test.each(topScreens)("%s fits, and leaves the last column and row free", (screen) => {
    const ui = openUi({ columns, rows }).jobs([
      failedJob(1, "settlement"),
      ...Array.from({ length: 80 }, (_, i) => sampleJob(i + 2)),
    ]);
    ui.press(":", ...screen, "enter");
    const { width, height } = frameArea(ui.state);
    const views = [[], ["enter"], ["esc", "?"], ["esc", ":"]] as const;
    for (const keys of views) {
      const lines = drawFrame(ui.press(...keys).state);
      expect(lines.length, `${screen} ${keys}`).toBeLessThanOrEqual(height);
      for (const one of lines) expect(lineWidth(one), `${screen} ${keys}`).toBeLessThanOrEqual(width);
    }
  });
});

test("at 80 columns the Overview says what, where and why", () => {
  expect(
    openUi()
      .jobs([failedJob(1, "pays")])
      .text(),
  ).toMatch(/what +fire +job +why/);
});

test("more went wrong than is listed: the title says how many", () => {
  const failed = failedJob(1, "pays");
  const twelve = { ...failed, bins: failed.bins.map((one) => ({ ...one, failed: 12 })) };
  expect(openUi().jobs([twelve]).text()).toContain("Went wrong: 1 of 12 ");
  expect(openUi().jobs([failed]).text()).toContain("Went wrong: 1 ");
});

test("an alert whose message names no job is shown with it", () => {
  const alert = {
    key: "x",
    rule: "shard-failed",
    severity: "critical" as const,
    job: "default/pays",
    fireTime: null,
    message: "1 shard failed",
    cause: null,
    hint: null,
    count: 1,
    firstAt: cluster.now,
    lastAt: cluster.now,
    acknowledgedBy: null,
    quiet: null,
    toldAt: null,
  };
  expect(openUi().give("alerts", [alert]).text()).toContain("✗ pays: 1 shard");
  expect(
    openUi()
      .give("alerts", [{ ...alert, message: "pays is late" }])
      .text(),
  ).toContain("✗ pays is late");
});

test("a store without jobs: nothing is due, and that is known", () => {
  expect(openUi().jobs([]).text()).toContain("0 of 0 due, 0 to come");
});

test("a window that is too small says how large it must be", () => {
  expect(openUi({ columns: 40, rows: 10 }).text()).toBe("at least 60×16 is needed, this is\n40×10; q leaves");
  expect(openUi({ columns: 20, rows: 5 }).text()).toBe("at least 60×16 is\nneeded, this is\n20×5; q leaves");
  expect(openUi({ columns: 9, rows: 2 }).text()).toBe("at least");
});

test("on the smallest screen what went wrong is in sight, and so is the failed shard", () => {
  const ui = openUi({ columns: 60, rows: 16 }).jobs([failedJob(1, "settlement"), sampleJob(2)]);
  expect(ui.text()).toMatch(/▸ ✗ failed +02:00 +settlement/);
  const { jobId, fires } = failedJob(1, "settlement");
  const fireMs = fires[0]!.fireTime.getTime();
  const execution = { jobId, fireTime: fires[0]!.fireTime, status: "failed", runNo: 1, shardCount: 2 };
  const shard = { attempt: 1, owner: "e-1", startTime: null, endTime: null, rows: null, error: "503" };
  ui.press("enter").give("execution", {
    jobId,
    fireMs,
    execution: execution as ExecutionRow,
    shards: [
      { ...shard, shardNo: 0, status: "success" },
      { ...shard, shardNo: 1, status: "failed" },
    ],
    complete: true,
  });
  expect(ui.text()).toMatch(/▸ +1 +✗ failed/);
});

test("the overview says what went wrong, and nothing else in its place", () => {
  const text = openUi({ columns: 120, rows: 40 })
    .jobs([failedJob(1, "settlement"), sampleJob(2)])
    .give("ahead", { fires: 8, counted: 2 })
    .text();
  expect(text).toContain("2 of 10 due, 8 to come");
  expect(text).toContain("1 went wrong");
  expect(text).toMatch(/✗ failed +02:00 +settlement +2 of 64 shards failed/);
  expect(text).toContain("scheduler-1 epoch 12");
});

test("all well is said only when all jobs have been read", () => {
  const ui = openUi({ columns: 120, rows: 40 }).jobs([sampleJob(2)]);
  expect(ui.text()).toContain("everything that should have run in 24 hours has run");
  const jobs = ui.state.picture.jobs!.value;
  expect(ui.give("jobs", { ...jobs, complete: false }).text()).toContain("still reading");
});

test("fires that nobody has written down are missing, and named", () => {
  const text = openUi({ columns: 120, rows: 40 })
    .jobs([sampleJob(1, { name: "forgotten", unplannedMs: [Date.parse("2026-11-30T02:00:00Z")] })])
    .text();
  expect(text).toMatch(/! no record +02:00 +forgotten/);
  expect(text).toContain("1 missing");
});

test("ink shows the frame, and another one after a key", async () => {
  const start = startState({
    size: { columns: 80, rows: 24 },
    nowMs: 1_000,
    operator: false,
    readOnlyReason: "",
    storeOptions: [],
    inventory: null,
  });
  const session = startSession(start, { colour: false, ascii: false }, () => {});
  const { jobs } = openUi().jobs([failedJob(1, "settlement")]).state.picture;
  const { lastFrame, unmount } = render(createElement(App, { session }));
  session.send({ type: "data", part: "cluster", value: cluster, nowMs: 1_000 });
  session.send({ type: "data", part: "jobs", value: jobs!.value, nowMs: 1_000 });
  const shown = () => session.tickets.redeem(lastFrame() ?? "");
  await until(() => shown().includes("settlement"), { what: "the failed job on the overview" });
  session.send({ type: "key", key: "2" });
  await until(() => shown().includes("Jobs 1"), { what: "the jobs screen" });
  unmount();
});
