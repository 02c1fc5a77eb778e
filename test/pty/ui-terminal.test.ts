/**
 * The terminal is borrowed: on a real pseudo terminal, with the program as it is
 * shipped. Whatever ends it, the alternate screen is left, the cursor is back,
 * the modes are as before, and what had scrolled by is still there.
 */
import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { Database } from "../../src/store/database.ts";
import { type FreshDatabase, freshDatabase } from "../support/database.ts";
import { ownProgram, PtySession, type TerminalOptions } from "../support/terminal.ts";
import { fillUiStore } from "../support/ui-store.ts";
import { until } from "../support/until.ts";

let store: FreshDatabase;
const open = new Set<PtySession>();

beforeAll(async () => {
  store = await freshDatabase({ migrated: true });
  const db = new Database(store.url, { maxConnections: 2 });
  await fillUiStore(db, { moreJobs: 60 });
  await db.end();
});
afterEach(async () => {
  for (const session of open) await session.dispose();
  open.clear();
});
afterAll(() => store.drop());

/** The screens, after sixty lines of something else. */
function start(columns: number, rows: number, environment: TerminalOptions["environment"] = {}): PtySession {
  const command = [
    "sh",
    "-c",
    `seq -f 'before %g' 1 60; exec "$0" "$@"`,
    process.execPath,
    ownProgram,
    "ui",
  ] as const;
  const session = new PtySession({
    columns,
    rows,
    command,
    environment: { ESCAPEMENT_STORE_URL: store.url, ...environment },
  });
  open.add(session);
  return session;
}

const ready = /of [\d,]+ due, [\d,]+ to come/;

/** Everything that must hold once it has ended. */
function expectGivenBack(session: PtySession): void {
  expect(session.raw).toContain("\x1b[?1049h");
  expect(session.raw).not.toContain("\x1b[3J");
  expect(session.raw.lastIndexOf("\x1b[?1049l")).toBeGreaterThan(session.raw.lastIndexOf("\x1b[?1049h"));
  expect(session.raw.lastIndexOf("\x1b[?25h")).toBeGreaterThan(session.raw.lastIndexOf("\x1b[?25l"));
  expect(session.raw.lastIndexOf("\x1b[?2004l")).toBeGreaterThan(session.raw.lastIndexOf("\x1b[?2004h"));
  expect(session.terminal.buffer.active.type).toBe("normal");
  const { normal } = session.terminal.buffer;
  const lines = Array.from(
    { length: normal.length },
    (_, y) => normal.getLine(y)?.translateToString(true) ?? "",
  );
  expect(lines.slice(0, 60)).toEqual(Array.from({ length: 60 }, (_, i) => `before ${i + 1}`));
  expect(lines.join("\n")).not.toContain("Overview");
}

describe.each([
  [80, 24],
  [132, 43],
  [200, 60],
])("%i × %i", (columns, rows) => {
  test("draws, follows the window to other sizes, and leaves no trace", async () => {
    const session = start(columns, rows);
    await session.shows(ready);
    for (const [width, height] of [
      [100, 30],
      [70, 18],
      [columns, rows],
    ] as const) {
      session.resize(width, height);
      await until(() => wholeFrame(session.text(), width, height), {
        what: `a whole frame at ${width} × ${height}; the screen was:\n${session.text()}`,
      });
    }
    session.press("q");
    expect(await session.ended()).toMatchObject({ code: 0, modes: { same: true } });
    expectGivenBack(session);
  });
});

/** One header, one bar, and every line of the boxes in its place up to the last column but one. */
function wholeFrame(text: string, width: number, height: number): boolean {
  const lines = text.split("\n");
  const body = lines.slice(1, height - 2);
  return (
    lines.length === height &&
    /^(escapement )?read-only {1,2}1 ?Overview/.test(lines[0]!) &&
    text.match(/Today/g)?.length === 1 &&
    body.every((line) => /^[╭│╰]/.test(line) && /[╮│╯]$/.test(line) && line.length === width - 1) &&
    /open.*back/.test(lines[height - 2]!) &&
    lines[height - 1] === ""
  );
}

const endings: readonly [what: string, how: (session: PtySession) => void, code: number][] = [
  ["q", (session) => session.press("q"), 0],
  [":quit", (session) => session.press(":", "quit", "\r"), 0],
  ["Ctrl-C", (session) => session.press("\x03"), 130],
  ["SIGINT", (session) => session.order({ signal: "SIGINT" }), 130],
  ["SIGTERM", (session) => session.order({ signal: "SIGTERM" }), 143],
  ["SIGHUP", (session) => session.order({ signal: "SIGHUP" }), 129],
  ["SIGQUIT", (session) => session.order({ signal: "SIGQUIT" }), 131],
];

test.each(endings)("%s ends it, and the terminal is as it was", async (_, how, code) => {
  const session = start(80, 24);
  await session.shows(ready);
  how(session);
  expect(await session.ended()).toEqual({
    code,
    signal: null,
    modes: { echo: true, canonical: true, same: true },
  });
  expectGivenBack(session);
});

test.each([
  ["an exception", "throw new Error('it broke')"],
  ["a promise that nobody catches", "Promise.reject(new Error('it broke'))"],
])(
  "%s: the terminal is given back before the error is told, on the screen that stays",
  async (_, statement) => {
    const preload = join(tmpdir(), `escapement-crash-${process.pid}-${statement.length}.mjs`);
    // The launcher's own process only: it loads the screens a moment later.
    writeFileSync(preload, `process.on("SIGUSR2", () => { ${statement}; });`);
    try {
      const session = start(80, 24, { NODE_OPTIONS: `--import ${preload}` });
      await session.shows(ready);
      session.order({ signal: "SIGUSR2" });
      expect(await session.ended()).toEqual({
        code: 70,
        signal: null,
        modes: { echo: true, canonical: true, same: true },
      });
      expectGivenBack(session);
      expect(session.text()).toContain("error E_BUG: internal error: it broke");
    } finally {
      rmSync(preload);
    }
  },
);

test("a window that is closed ends it", async () => {
  const session = start(80, 24);
  await session.shows(ready);
  session.order({ close: true });
  const { code, signal } = await session.ended();
  // Hung up on, in one of the two ways to say so; never aborted with a core dump.
  expect([
    [129, null],
    [null, 1],
  ]).toContainEqual([code, signal]);
});

test("a store that goes away: the last data, the reason, and when it is asked again", async () => {
  const gone = await freshDatabase({ migrated: true });
  const session = start(100, 30, { ESCAPEMENT_STORE_URL: gone.url });
  await session.shows(/nobody leads/);
  await gone.drop();
  await session.shows(/this is the last data · next try in \d+ s/);
  expect(session.text()).toContain("nobody leads");
  session.press("2");
  await session.shows(/Jobs/);
  session.press("q");
  expect(await session.ended()).toMatchObject({ code: 0 });
  expectGivenBack(session);
});

test("a store that was never there: the reason on the screen, and no crash", async () => {
  const session = start(100, 30, { ESCAPEMENT_STORE_URL: "postgres://nobody@127.0.0.1:9/none" });
  await session.shows(/ECONNREFUSED/);
  await session.shows(/nothing has been read yet · next try in \d+ s/);
  session.press("q");
  expect(await session.ended()).toMatchObject({ code: 0 });
  expectGivenBack(session);
});

test("a store whose schema is not known: an error, on the screen that stays", async () => {
  const empty = await freshDatabase({ migrated: false });
  const session = start(100, 30, { ESCAPEMENT_STORE_URL: empty.url });
  expect(await session.ended()).toMatchObject({ code: 4, modes: { same: true } });
  expectGivenBack(session);
  expect(session.text()).toContain("E_STORE_NOT_MIGRATED");
  await empty.drop();
});

test("a paste is no keys; while something is typed it is its text", async () => {
  const session = start(100, 30);
  await session.shows(ready);
  session.press("\x1b[200~q\x032q\r\x1b[201~");
  await session.shows("a paste is no key");
  session.press("2", "/", "\x1b[200~tenant-0007\x1b[201~", "\r");
  await session.shows(/Jobs 1 of \d+[\s\S]*▸ . {2}tenant-0007/);
  session.press("q");
  expect(await session.ended()).toMatchObject({ code: 0 });
  expectGivenBack(session);
});

test("NO_COLOR: no colour is set, and the chosen row is still seen", async () => {
  const session = start(80, 24, { NO_COLOR: "1" });
  await session.shows(/▸ ✗ failed/);
  // SGR 30–37, 90–97 and 38/48 are colours.
  const codes = session.raw
    .split("\x1b[")
    .slice(1)
    .flatMap((part) => /^([0-9;]+)m/.exec(part)?.[1]?.split(";") ?? []);
  expect(codes.filter((code) => /^(3[0-8]|4[0-8]|9[0-7])$/.test(code))).toEqual([]);
  expect(codes).toContain("7");
});
