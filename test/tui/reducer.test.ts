/** What keys and data make of the state: no terminal, no store. */
import { expect, test } from "vitest";
import type { ExecutionRow } from "../../src/store/execution.ts";
import type { DrillLook } from "../../src/store/ui/records-look.ts";
import { currentView, listOf } from "../../src/tui/state/state.ts";
import { failedJob, now, openUi, sampleJob } from "../support/ui-state.ts";

const jobs = (count: number) => Array.from({ length: count }, (_, i) => sampleJob(i + 1));

test("numbers choose screens, tab turns to the next, and around", () => {
  const ui = openUi();
  expect(currentView(ui.press("2").state).screen).toBe("jobs");
  expect(currentView(ui.press("tab").state).screen).toBe("hosts");
  expect(currentView(ui.press("1", "shift-tab").state).screen).toBe("capacity");
});

test("enter goes in, esc comes out again to the same row", () => {
  const ui = openUi().jobs(jobs(50)).press("2", "j", "j", "j", "enter");
  expect(currentView(ui.state)).toEqual({ screen: "job", jobId: 4 });
  ui.press("esc");
  expect(currentView(ui.state).screen).toBe("jobs");
  expect(listOf(ui.state).index).toBe(3);
});

test("the cursor stays on its job when another comes before it", () => {
  const ui = openUi().jobs(jobs(9)).press("2", "j", "j");
  ui.jobs([sampleJob(99, { name: "aaa" }), ...jobs(9)]);
  expect(ui.text()).toMatch(/▸ ✓ {2}job-0003/);
});

test("a filter narrows while it is typed; esc takes it back, enter keeps it, esc again removes it", () => {
  const ui = openUi()
    .jobs([...jobs(9), failedJob(10, "settlement")])
    .press("2", "/", ..."settle");
  expect(ui.text()).toContain("Jobs 1 of 10");
  expect(ui.press("esc").text()).toContain("Jobs 10");
  expect(ui.press("/", ..."failed", "enter").text()).toContain("Jobs 1 of 10");
  expect(ui.press("q").state.quit).toBe(0);
  expect(ui.press("esc").text()).toContain("Jobs 10");
});

test("q typed into a filter is a letter", () => {
  const ui = openUi().jobs(jobs(3)).press("2", "/", "q");
  expect(ui.state.quit).toBeNull();
  expect(listOf(ui.state).filter).toBe("q");
});

test("ctrl-c leaves from everywhere", () => {
  for (const keys of [[], ["/"], [":"], ["?"], ["2", "R"]]) {
    const ui = openUi({ operator: true })
      .jobs(jobs(1))
      .press(...keys, "ctrl-c");
    expect(ui.state.quit, keys.join(" ")).toBe(130);
  }
});

test("a column is sorted up, down, and not at all", () => {
  const ui = openUi().jobs(jobs(9)).press("2", "T");
  const first = () => /▸ ✓ {2}(\S+)/.exec(ui.text())?.[1];
  expect(first()).toBe("job-0009");
  ui.press("T");
  expect(first()).toBe("job-0001");
  expect(ui.press("T").state.lists.jobs?.sort).toBeNull();
});

test("commands complete, and go to screens and jobs", () => {
  const ui = openUi().jobs([...jobs(3), failedJob(10, "settlement")]);
  expect(currentView(ui.press(":", ..."cap", "enter").state).screen).toBe("capacity");
  ui.press(":", ..."job set", "tab");
  expect(ui.state.mode).toMatchObject({ kind: "command", text: "job settlement" });
  expect(currentView(ui.press("enter").state)).toEqual({ screen: "job", jobId: 10 });
  expect(ui.press(":", ..."nonsense", "enter").text()).toContain("there is no nonsense here");
  expect(ui.press(":", "q", "enter").state.quit).toBe(0);
});

test("y copies the command that shows the same, and shows it", () => {
  const ui = openUi()
    .jobs([failedJob(1, "settlement")])
    .press("y");
  const text = "escapement explain-fire settlement 2026-11-30T02:00:00.000Z --cluster cluster.yaml";
  expect(ui.effects).toEqual([{ kind: "copy", text }]);
  expect(ui.text()).toContain("explain-fire settlement");
});

test("read-only: nothing is asked and nothing is done, and the reason is said", () => {
  const ui = openUi().jobs(jobs(3)).press("2", "R");
  expect(ui.state.mode.kind).toBe("browse");
  expect(ui.text()).toContain("not now, read-only; start it with --operator");
  expect(ui.effects).toEqual([]);
});

test("an action asks why, then for the name; only the name does it", () => {
  const ui = openUi({ operator: true })
    .jobs([failedJob(7, "settlement")])
    .press("F");
  expect(ui.text()).toContain("rerun failed shards: settlement 2026-11-30T02:00:00.000Z");
  ui.press("enter");
  expect(ui.state.mode).toMatchObject({ kind: "ask", at: 0 });
  ui.press(..."disk was full", "enter", ..."settlemen", "enter");
  expect(ui.effects).toEqual([]);
  expect(ui.text()).toContain("type settlement to go on");
  ui.press("t", "enter");
  expect(ui.effects).toEqual([
    {
      kind: "run",
      title: "rerun failed shards",
      report: false,
      args: [
        "rerun",
        "settlement",
        "2026-11-30T02:00:00.000Z",
        "--failed",
        "--reason",
        "disk was full",
        "--cluster",
        "cluster.yaml",
      ],
    },
  ]);
  expect(ui.text()).toContain("rerun failed shards…");
});

test("what is asked about stays what it was, whatever the data does meanwhile", () => {
  const ui = openUi({ operator: true })
    .jobs([failedJob(7, "settlement")])
    .press("F");
  ui.jobs([failedJob(8, "another")]).press("x", "enter", ..."settlement", "enter");
  expect(ui.effects[0]).toMatchObject({ kind: "run", args: expect.arrayContaining(["settlement"]) });
});

test("esc at a question does nothing", () => {
  const ui = openUi({ operator: true })
    .jobs([failedJob(7, "settlement")])
    .press("F", "x", "enter", ..."settlement", "esc");
  expect(ui.effects).toEqual([]);
  expect(ui.text()).toContain("nothing was done");
});

const refusals: readonly [what: string, keys: readonly string[], text: string][] = [
  ["a success is not run again", ["2", "enter", "F"], "nothing is chosen"],
  ["a job that is active is not resumed", ["2", "U"], "it is not paused"],
  ["hosts are not planned without an inventory", ["3", "P"], "start with -i INVENTORY"],
  ["no drill is run without hosts", ["4", "R"], "start with -i INVENTORY"],
  ["no halt is lifted that there is not", ["4", "U"], "nobody has halted them"],
];
test.each(refusals)("%s", (_, keys, text) => {
  const ui = openUi({ operator: true, columns: 140 })
    .jobs(jobs(2))
    .press(...keys);
  expect(ui.text()).toContain(text);
  expect(ui.state.mode.kind).toBe("browse");
});

test("the result of an action is said, and gone after a while", () => {
  const ui = openUi({ operator: true }).send({
    type: "action-ended",
    title: "x",
    ok: true,
    text: "✓ done",
    nowMs: 2_000,
  });
  expect(ui.text()).toContain("✓ done");
  expect(ui.send({ type: "tick", nowMs: 60_000 }).text()).not.toContain("✓ done");
});

test("a store that is away: the last data stays, with the reason and the time of the next try", () => {
  const ui = openUi().jobs([failedJob(7, "settlement")]);
  ui.send({
    type: "store-down",
    reason: "the record store does not answer: connect ECONNREFUSED",
    nowMs: 5_000,
    retryAtMs: 9_000,
  });
  const text = ui.send({ type: "tick", nowMs: 6_000 }).text();
  expect(text).toContain("ECONNREFUSED");
  expect(text).toContain("next try in 3 s");
  expect(text).toContain("settlement");
  expect(text).toMatch(/✗ 5s/);
  expect(ui.send({ type: "store-up" }).text()).not.toContain("ECONNREFUSED");
});

test("a store that was never there: a reason, no crash", () => {
  const ui = openUi();
  ui.state = { ...ui.state, picture: {} };
  ui.send({
    type: "store-down",
    reason: "the record store does not answer: timeout",
    nowMs: 5_000,
    retryAtMs: 6_000,
  });
  for (const key of ["1", "2", "3", "4", "5", "6", "7", "j", "enter", "y", "?"])
    expect(ui.press(key).text()).toMatch(/no data|keys of/);
});

const execution = (fireTime: Date) => ({ jobId: 1, fireTime, status: "failed", runNo: 1 }) as ExecutionRow;
const detail = (jobId: number, ...executions: ExecutionRow[]) => ({ jobId, executions, operations: [] });

test("enter that comes before the executions opens the first of them once they are there", () => {
  const ui = openUi().jobs(jobs(2)).press("2", "enter", "enter");
  // Those of the job that was open before are not meant.
  ui.give("job", detail(2, execution(now)));
  expect(currentView(ui.state)).toEqual({ screen: "job", jobId: 1 });
  ui.give("job", detail(1, execution(now)));
  expect(currentView(ui.state)).toEqual({ screen: "execution", jobId: 1, fireMs: now.getTime() });
  expect(ui.state.opening).toBeNull();
  ui.press("esc").give("job", detail(1, execution(now)));
  expect(currentView(ui.state)).toEqual({ screen: "job", jobId: 1 });
});

test("several that come too early lead on one after the other", () => {
  const ui = openUi().press("2", "/", ..."settlement", "enter", "enter", "enter");
  ui.jobs([...jobs(3), failedJob(10, "settlement")]);
  expect(currentView(ui.state)).toEqual({ screen: "job", jobId: 10 });
  ui.give("job", detail(10, { ...execution(now), jobId: 10 }));
  expect(currentView(ui.state)).toEqual({ screen: "execution", jobId: 10, fireMs: now.getTime() });
  expect(ui.state.opening).toBeNull();
});

test("enter that comes too early is forgotten when another key follows, or when there is nothing", () => {
  const ui = openUi().jobs(jobs(2)).press("2", "enter", "enter", "j");
  ui.give("job", detail(1, execution(now)));
  expect(currentView(ui.state).screen).toBe("job");
  const other = openUi().jobs(jobs(2)).press("2", "enter", "enter");
  other.give("job", detail(1)).give("job", detail(1, execution(now)));
  expect(currentView(other.state).screen).toBe("job");
});

test("a job's name typed ahead of the jobs: its row is opened when it comes", () => {
  const ui = openUi().press("2", "/", ..."settlement", "enter", "enter");
  ui.jobs([...jobs(3), failedJob(10, "settlement")]);
  expect(currentView(ui.state)).toEqual({ screen: "job", jobId: 10 });
});

test("a text scrolls by a line with every key, by a page, and to its last line, at every width", () => {
  const summary = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`count-${i}`, i]));
  const run = {
    runId: "r-1",
    drill: "cut-network",
    class: "network-cut",
    targets: [],
    startedAt: now,
    summary,
  };
  const reason = "word ".repeat(80).trim();
  for (const columns of [70, 132]) {
    const ui = openUi({ columns, rows: 24 })
      .give("drills", { runs: [{ ...run, reason } as unknown as DrillLook], halt: null })
      .press("4", "enter");
    expect(ui.text()).toMatch(/more lines below[\s\S]*verdict/);
    expect(ui.press("j").text()).not.toContain("verdict");
    ui.press("pagedown");
    expect(listOf(ui.state).top).toBe(19);
    expect(ui.press("G").text()).toContain("count-39");
    expect(ui.text()).not.toContain("more lines below");
    expect(ui.press("j", "g").text()).toContain("verdict");
  }
});
