/** What is said in passing: whole, above the key bar, and gone with esc. */
import { expect, test } from "vitest";
import { openUi, sampleJob } from "../support/ui-state.ts";

const lines = (ui: ReturnType<typeof openUi>) => ui.text().split("\n");

test("a refusal says why, and the key bar stays", () => {
  const ui = openUi()
    .jobs([sampleJob(1)])
    .press("2");
  const bar = lines(ui).at(-1)!;
  expect(bar).toContain("⏎ open");
  ui.press("R");
  expect(lines(ui).at(-1)).toBe(bar);
  expect(lines(ui).at(-2)).toMatch(/^▸ run the job now: not now, read-only/);
  expect(lines(ui)).toHaveLength(23);
  ui.press("esc");
  expect(ui.text()).not.toContain("not now");
});

test("a long one is told in as many lines as it takes", () => {
  const text =
    "✗ escapement run settlement: this is what the command has said, and all of it is needed to know what to do about it now";
  const ui = openUi().send({ type: "notice", text, tone: "bad", nowMs: 1_000 });
  expect(
    lines(ui)
      .slice(-3, -1)
      .map((one) => one.slice(2))
      .join(" "),
  ).toBe(text);
});

test("while something is asked, what is wrong with an answer is told below it, and goes with the right one", () => {
  const ui = openUi({ operator: true })
    .jobs([sampleJob(1)])
    .press("2", "R", "enter");
  expect(lines(ui).at(-2)).toContain("reason: why; kept with the records");
  ui.press("x", "enter");
  expect(ui.text()).not.toContain("reason: why");
  ui.press("n", "enter");
  expect(lines(ui).at(-2)).toContain("type job-0001 to go on");
});

test("what the command before has answered is no answer to the next question", () => {
  const ui = openUi({ operator: true })
    .jobs([sampleJob(1)])
    .press("2");
  ui.send({ type: "notice", text: "✓ the one before: done", tone: "good", nowMs: 1_000 });
  expect(ui.press("R").text()).not.toContain("the one before");
});

test("a store that is away: on a narrow screen its reason is told rather than that nothing is new", () => {
  const reason = "the record store does not answer: connect ECONNREFUSED 127.0.0.1:20659";
  const ui = openUi().send({ type: "store-down", reason, nowMs: 1_000, retryAtMs: 3_000 });
  expect(lines(ui)[1]).toBe("✗ no store: connect ECONNREFUSED 127.0.0.1:20659 · next try in 2 s");
});

test("a store that is away is asked now when the seconds have run out, not in 0 s", () => {
  const ui = openUi().send({ type: "store-down", reason: "cut", nowMs: 1_000, retryAtMs: 3_000 });
  expect(lines(ui)[1]).toContain("next try in 2 s");
  ui.send({ type: "tick", nowMs: 3_000 });
  expect(lines(ui)[1]).toContain("asking now");
  expect(ui.text()).not.toContain("0 s");
});

test("the bar names the way out and the way to all keys at every width", () => {
  for (let columns = 60; columns <= 200; columns += 7) {
    const ui = openUi({ operator: true, columns, rows: 24 }).jobs([sampleJob(1)]);
    for (const screen of ["1", "2", "3", "4", "5", "6", "7"])
      expect(lines(ui.press(screen)).at(-1), `${columns}, ${screen}`).toMatch(/\? help +q quit/);
  }
});

test("one that is longer than its lines ends in a sign that more was said", () => {
  const text = "word ".repeat(90);
  const ui = openUi().send({ type: "notice", text, tone: "bad", nowMs: 1_000 });
  expect(lines(ui).at(-2)).toMatch(/word …$|wo?r?…$/);
});

test("what is typed beyond the width is seen at its end, where the next letter goes", () => {
  const ui = openUi({ operator: true })
    .jobs([sampleJob(1)])
    .press("2", "/", ..."x".repeat(90), "E");
  expect(lines(ui).at(-1)).toMatch(/^\/…x+E▌.*esc undo/);
  ui.press("esc", ":", ..."x".repeat(90), "E");
  expect(lines(ui).at(-1)).toMatch(/^:…x+E▌/);
  ui.press("esc", "R", ..."x".repeat(90), "E");
  expect(ui.text()).toMatch(/reason {3}…x+E▌ *│/);
});

test("the page of keys scrolls to its end and not beyond", () => {
  const ui = openUi().press("?", ...Array.from({ length: 60 }, () => "j"));
  const end = ui.text();
  expect(ui.press("k").text()).not.toBe(end);
  expect(ui.press("G").text()).toBe(end);
  expect(ui.press("g").text()).toContain("into what the cursor is on");
  expect(ui.press("pagedown", "pagedown", "pagedown").text()).toBe(end);
  expect(ui.press("x").text()).toContain("Today");
});
