/** A program on a pseudo terminal, and what a person would see of it. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import xterm from "@xterm/headless";
import { packageRoot } from "../../src/lab/package-root.ts";
import { until } from "./until.ts";

const root = packageRoot() ?? ".";
const bridge = join(root, "test/pty/bridge.py");
export const ownProgram = join(root, "bin/escapement.mjs");

export interface TerminalOptions {
  readonly columns: number;
  readonly rows: number;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly command: readonly [string, ...string[]];
}

export interface TerminalExit {
  readonly code: number | null;
  readonly signal: number | null;
  /** Null when the window was closed. */
  readonly modes: { readonly echo: boolean; readonly canonical: boolean; readonly same: boolean } | null;
}

export class PtySession {
  readonly terminal: xterm.Terminal;
  /** Every byte that the program wrote. */
  raw = "";
  exit: TerminalExit | undefined;
  /** Of the program. */
  pid: number | undefined;
  /** Monotonic milliseconds, by the bridge: of the last byte, and of each send. */
  lastByteMs = 0;
  readonly sentMs: number[] = [];
  #bytes = 0;
  readonly #child: ChildProcess;
  readonly #parsed: Promise<void>[] = [];

  constructor({ columns, rows, command, environment }: TerminalOptions) {
    this.terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true, scrollback: 1_000 });
    const env: NodeJS.ProcessEnv = {
      ...process.env,
      TERM: "xterm-256color",
      LANG: "C.UTF-8",
      ...environment,
    };
    for (const name of Object.keys(env))
      if (
        env[name] === undefined ||
        name === "CI" ||
        name.startsWith("CI_") ||
        name === "NO_COLOR" ||
        name === "VITEST"
      )
        delete env[name];
    for (const [name, value] of Object.entries(environment ?? {})) if (value !== undefined) env[name] = value;
    this.#child = spawn("python3", [bridge, String(columns), String(rows), ...command], {
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    let rest = "";
    this.#child.stdout!.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      for (const one of lines) this.#take(JSON.parse(one));
    });
    this.#child.stdin!.on("error", () => {});
  }

  get bytes(): number {
    return this.#bytes;
  }

  #take(told: {
    data?: string;
    sent?: number;
    pid?: number;
    exit?: number | null;
    signal?: number | null;
    modes?: TerminalExit["modes"];
    ms: number;
  }): void {
    if (told.data !== undefined) {
      const data = Buffer.from(told.data, "base64");
      this.raw += data.toString("latin1");
      this.#bytes += data.length;
      this.lastByteMs = told.ms;
      this.#parsed.push(new Promise((resolve) => this.terminal.write(data, resolve)));
    }
    if (told.pid !== undefined) this.pid = told.pid;
    if (told.sent !== undefined) this.sentMs.push(told.ms);
    if ("exit" in told)
      this.exit = { code: told.exit ?? null, signal: told.signal ?? null, modes: told.modes ?? null };
  }

  order(order: Record<string, unknown>): void {
    this.#child.stdin!.write(`${JSON.stringify(order)}\n`);
  }

  /** Types: each text is one key press or more, in the terminal's own codes. */
  press(...keys: readonly string[]): void {
    for (const key of keys) this.order({ send: key });
  }

  resize(columns: number, rows: number): void {
    this.terminal.resize(columns, rows);
    this.order({ resize: [columns, rows] });
  }

  /** The visible screen as text, without the blanks at the ends of its lines. */
  text(): string {
    const { active } = this.terminal.buffer;
    return Array.from(
      { length: this.terminal.rows },
      (_, y) => active.getLine(active.viewportY + y)?.translateToString(true) ?? "",
    ).join("\n");
  }

  /** Waits until the screen shows it. @returns the screen */
  async shows(what: RegExp | string, deadlineMs = 30_000): Promise<string> {
    const found = () => {
      const text = this.text();
      return (typeof what === "string" ? text.includes(what) : what.test(text)) && text;
    };
    return until(found, { deadlineMs, everyMs: 20, what: `${what} on the screen` }).catch((error: Error) => {
      throw new Error(
        `${error.message}; the screen was:\n${this.text()}\n${this.exit ? JSON.stringify(this.exit) : ""}`,
        { cause: error },
      );
    });
  }

  async ended(deadlineMs = 30_000): Promise<TerminalExit> {
    const exit = await until(() => this.exit, { deadlineMs, what: "the end of the program" });
    await Promise.all(this.#parsed);
    return exit;
  }

  /** Ends it, whatever it does. */
  async dispose(): Promise<void> {
    if (!this.exit) this.order({ signal: "SIGKILL" });
    await until(() => this.exit, { deadlineMs: 5_000, what: "its end" }).catch(() =>
      this.#child.kill("SIGKILL"),
    );
    this.#child.stdin!.end();
    this.terminal.dispose();
  }
}
