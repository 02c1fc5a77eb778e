/** Starts the screens on this terminal, and gives it back. Loaded only when they are wanted: ink and react come with it. */
import { render } from "ink";
import { monotonicMs } from "../base/monotonic.ts";
import type { Queryable } from "../store/database.ts";
import { type OwnProgram, runOwnCommand } from "./actions/run-command.ts";
import { App } from "./app.tsx";
import { reportOf } from "./data/checklist-items.ts";
import { HostInspector } from "./data/host-inspector.ts";
import { Poller } from "./data/poller.ts";
import { type Session, startSession } from "./session.ts";
import { type Effect, startState } from "./state/state.ts";
import { borrowTerminal, eraseCodes } from "./terminal/alternate-screen.ts";
import { readKeys } from "./terminal/keyboard.ts";
import { ScreenStream } from "./terminal/screen-stream.ts";
import { lookOf } from "./text/palette.ts";

export interface UiOptions {
  readonly db: Queryable;
  /** Refuses a store whose schema this program does not know. */
  readonly checkStore: () => Promise<void>;
  readonly logDirectory: string | null;
  readonly operator: boolean;
  readonly readOnlyReason: string;
  readonly storeOptions: readonly string[];
  readonly inventory: string | null;
  /** Profiles of the site, for commands about hosts. */
  readonly profiles: readonly string[];
  /** A JSON report of the checklist, read again when it changes. */
  readonly reportFile: string | null;
  readonly program: OwnProgram;
  readonly noColour: boolean;
}

/** More often than the eye needs, so that a key is never late by a frame; the session keeps news from being drawn that often. */
const maxFps = 120;
const tickMs = 1_000;
/** Everything is written anew this often: others may have written on the same terminal, such as `wall`. */
const renewEveryTicks = 20;

/** @returns the exit code, when the person has left. @throws what the store's check throws; the terminal is back by then */
export async function startUi(options: UiOptions): Promise<number> {
  const { stdin, stdout } = process;
  const size = () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 });
  const start = startState({ ...options, size: size(), nowMs: monotonicMs() });
  const inspector = new HostInspector(options.program, options.inventory);
  const session = startSession(start, lookOf(process.env, options.noColour), (effect, from) =>
    perform(effect, from, options, inspector),
  );
  inspector.follow(session);
  const stream = new ScreenStream(stdout, session.tickets);
  const again = () => {
    session.tickets.renew();
    session.send({ type: "size", ...size() });
  };
  const terminal = borrowTerminal(stdin, stdout, () => stream.close(), again);
  const endKeys = readKeys(stdin, (typed) => session.send(typed));
  const ink = render(<App session={session} />, {
    stdout: stream as unknown as NodeJS.WriteStream,
    stdin,
    patchConsole: false,
    exitOnCtrlC: false,
    incrementalRendering: true,
    maxFps,
  });
  const resized = () => {
    stdout.write(eraseCodes);
    again();
  };
  stdout.on("resize", resized);
  let ticks = 0;
  const ticking = setInterval(() => {
    if (++ticks % renewEveryTicks === 0) session.tickets.renew();
    session.send({ type: "tick", nowMs: monotonicMs() });
  }, tickMs);
  let poller: Poller | undefined;
  try {
    return await new Promise<number>((resolve, reject) => {
      const { db, checkStore: check, logDirectory, reportFile } = options;
      poller = new Poller({ db, session, check, logDirectory, reportFile, onFatal: reject });
      session.subscribe(() => {
        const { quit } = session.current();
        if (quit !== null) resolve(quit);
      });
      // A terminal that is closed without a signal.
      stdin.on("end", () => resolve(129));
      stdin.on("error", () => resolve(129));
      poller.start();
    });
  } finally {
    poller?.stop();
    clearInterval(ticking);
    stdout.off("resize", resized);
    endKeys();
    stream.close();
    ink.unmount();
    terminal.restore();
  }
}

function perform(effect: Effect, session: Session, options: UiOptions, inspector: HostInspector): void {
  switch (effect.kind) {
    case "copy":
      // OSC 52: the terminal puts it on the clipboard, also over ssh.
      process.stdout.write(`\x1b]52;c;${Buffer.from(effect.text).toString("base64")}\x07`);
      return;
    case "repaint":
      process.stdout.write(eraseCodes);
      session.tickets.renew();
      queueMicrotask(() => session.send({ type: "size", ...session.current().size }));
      return;
    case "inspect":
      void inspector.inspect(session);
      return;
    case "run":
      void runOwnCommand(options.program, effect.args).then(({ ok, text, stdout }) => {
        const nowMs = monotonicMs();
        const report = effect.report ? reportOf(stdout) : null;
        if (report) session.send({ type: "data", part: "report", value: report, nowMs });
        session.send({ type: "action-ended", title: effect.title, ok, text, nowMs });
      });
  }
}
