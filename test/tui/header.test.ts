/** The first line at every width: where we are, the role, the clock and the age, and never one on top of the other. */
import { expect, test } from "vitest";
import { topScreens } from "../../src/tui/state/state.ts";
import { now, openUi } from "../support/ui-state.ts";

const header = (ui: ReturnType<typeof openUi>) => ui.text().split("\n")[0]!;

test.each([
  ["read-only", false],
  ["operator", true],
])("%s is told at every width, and the clock keeps its distance", (role, operator) => {
  for (let columns = 60; columns <= 220; columns++) {
    const ui = openUi({ columns, rows: 24, operator });
    for (const [i, screen] of topScreens.entries()) {
      const text = header(ui.press(String(i + 1)));
      const where = `${columns} columns, ${screen}: ${text}`;
      expect(text, where).toMatch(/ \d\d:\d\d:\d\d( UTC|Z) ● \d+s( old)?$/);
      expect(text.match(/\d\d:\d\d:\d\d/g), where).toHaveLength(1);
      expect(text, where).toContain(`${role} `);
      // The title of the screen that is shown is never shortened.
      expect(text.toLowerCase(), where).toMatch(new RegExp(`${i + 1} ?${screen}`));
    }
  }
});

test("with a hundred open alerts the other screens still have names at 80 columns", () => {
  const hundred = Array.from({ length: 100 }, (_, i) => ({
    key: String(i),
    rule: "shard-failed",
    severity: "critical" as const,
    job: "default/job-0001",
    fireTime: now,
    message: "exit code 1",
    cause: null,
    hint: null,
    count: 1,
    firstAt: now,
    lastAt: now,
    acknowledgedBy: null,
    quiet: null,
    toldAt: null,
  }));
  for (const operator of [false, true]) {
    const ui = openUi({ columns: 80, rows: 24, operator }).give("alerts", hundred);
    for (const [i] of topScreens.entries())
      expect(header(ui.press(String(i + 1)))).toMatch(/2Jobs? 3Hosts? 4Drills? .*6Alerts?\(100\)/);
  }
});

test("before the store has answered it says so, at every width", () => {
  for (let columns = 60; columns <= 220; columns++)
    expect(header(openUi({ columns, rows: 24, asked: false }))).toMatch(/ asking the store…$/);
});
