/** A shell stops the screens and has them go on: the terminal is the shell's in between, and whole again afterwards. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ownProgram, PtySession } from "../support/terminal.ts";
import { until } from "../support/until.ts";

let store: FreshDatabase;
let session: PtySession | undefined;

beforeAll(async () => {
  store = await freshDatabase({ migrated: true });
});
afterEach(() => session?.dispose());
afterAll(() => store.drop());

test("stopped, the terminal is given back; going on, everything is drawn anew and keys work", async () => {
  const script = `set -m; "$0" "$1" ui; echo "the shell is back"; read -r line; echo "it read $line"; fg; echo "ended with $?"`;
  session = new PtySession({
    columns: 90,
    rows: 30,
    command: ["bash", "-c", script, process.execPath, ownProgram],
    environment: { ESCAPEMENT_STORE_URL: store.url },
  });
  await session.shows(/nobody leads/);
  session.order({ foreground: "SIGTSTP" });
  await session.shows("the shell is back");
  expect(session.terminal.buffer.active.type).toBe("normal");
  expect(session.raw.lastIndexOf("\x1b[?25h")).toBeGreaterThan(session.raw.lastIndexOf("\x1b[?25l"));
  expect(session.raw.lastIndexOf("\x1b[?7h")).toBeGreaterThan(session.raw.lastIndexOf("\x1b[?7l"));
  session.press("hello\r");
  await session.shows("nobody leads");
  const before = session.text();
  expect(session.terminal.buffer.active.type).toBe("alternate");
  expect(before.match(/Today/g)).toHaveLength(1);
  session.press("2");
  await session.shows(/─ Jobs/);
  session.press("q");
  await session.shows("ended with 0");
  await until(() => session?.exit, { what: "the end of the shell" });
  expect(session.text()).toContain("it read hello");
  expect(session.exit).toMatchObject({ code: 0, modes: { same: true } });
});
