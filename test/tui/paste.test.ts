/** A paste is one text: for the field that is typed in, and for nobody else. */
import { expect, test } from "vitest";
import { currentView, listOf } from "../../src/tui/state/state.ts";
import { KeyReader, type Typed } from "../../src/tui/terminal/keys.ts";
import { openUi, sampleJob } from "../support/ui-state.ts";

const [begin, end] = ["\x1b[200~", "\x1b[201~"] as const;

test.each<[what: string, pieces: readonly string[], events: readonly Typed[]]>([
  ["one piece", [`${begin}qR2${end}`], [{ type: "paste", text: "qR2" }]],
  [
    "several, with new lines and tabs alone",
    [begin, "a", "\r", "\t", "b", end],
    [{ type: "paste", text: "a\r\tb" }],
  ],
  ["an end in two halves", [`${begin}a\x1b[20`, "1~"], [{ type: "paste", text: "a" }]],
  ["what is no end", [`${begin}a\x1b[20`, `0~${end}`], [{ type: "paste", text: "a\x1b[200~" }]],
  [
    "keys before and after",
    [`j${begin}`, `${end}k`],
    [
      { type: "key", key: "j" },
      { type: "paste", text: "" },
      { type: "key", key: "k" },
    ],
  ],
  ["Ctrl-C within its text", [`${begin}a\x03b${end}`], [{ type: "paste", text: "a\x03b" }]],
  [
    "no end: Ctrl-C is still Ctrl-C",
    [begin, "abc", "\x03", "q"],
    [
      { type: "key", key: "ctrl-c" },
      { type: "key", key: "q" },
    ],
  ],
])("%s", (_, pieces, events) => {
  const reader = new KeyReader();
  expect(pieces.flatMap((piece) => reader.read(piece))).toEqual(events);
  expect(reader.waits).toBe(false);
});

const paste = (text: string) => ({ type: "paste", text }) as const;

test("where nothing is typed it does nothing, and says so", () => {
  const ui = openUi({ operator: true })
    .jobs([sampleJob(1)])
    .press("2")
    .send(paste("q3R"));
  expect(currentView(ui.state).screen).toBe("jobs");
  expect(ui.state).toMatchObject({ quit: null, mode: { kind: "browse" } });
  expect(ui.text()).toContain("a paste is no key");
});

test("it goes into a filter, a command and an answer, as one line", () => {
  const ui = openUi({ operator: true })
    .jobs([sampleJob(1), sampleJob(2)])
    .press("2", "/")
    .send(paste("job-\r\n"));
  expect(listOf(ui.state).filter).toBe("job-");
  ui.press("esc", ":").send(paste("job job-0002\n")).press("enter");
  expect(currentView(ui.state)).toEqual({ screen: "job", jobId: 2 });
  ui.press("R").send(paste("bank 2\r\nis \x1b[2Jback")).press("enter");
  expect(ui.state.mode).toMatchObject({ kind: "ask", at: 1 });
  ui.press(..."job-0002", "enter");
  expect(ui.effects).toMatchObject([
    { kind: "run", args: ["run", "job-0002", "--reason", "bank 2 is  [2Jback", "--cluster", "cluster.yaml"] },
  ]);
});
