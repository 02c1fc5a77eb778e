/** A `drill run --json` of the command line while it goes on. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type { DrillReport } from "../../../src/chaos/drill/drill-report.ts";
import { until } from "../../support/until.ts";

/** No drill takes longer than this before what is waited for. */
const patienceMs = 300_000;

export class RunningDrill {
  readonly process: ChildProcess;
  /** Its exit code, once both streams are closed. */
  readonly ended: Promise<number | null>;
  #stdout = "";
  #stderr = "";
  #isEnded = false;

  /** @param folder of the program */
  constructor(folder: string, args: readonly string[]) {
    this.process = spawn(process.execPath, [join(folder, "bin/escapement.mjs"), ...args], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.process.stdout!.on("data", (part) => (this.#stdout += part));
    this.process.stderr!.on("data", (part) => (this.#stderr += part));
    this.ended = new Promise((resolve) =>
      this.process.once("close", (code) => {
        this.#isEnded = true;
        resolve(code);
      }),
    );
  }

  /** Every document it has printed. */
  get documents(): readonly Record<string, unknown>[] {
    const whole = this.#stdout.slice(0, this.#stdout.lastIndexOf("\n") + 1);
    return whole.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  }

  /** Everything it has said on its way. */
  get progress(): readonly string[] {
    return this.documents.flatMap(({ event, line }) => (event === "progress" ? [String(line)] : []));
  }

  /** Waits until a line of its progress matches, and returns the match. */
  async heard(words: RegExp): Promise<RegExpExecArray> {
    const found = await until(
      () => {
        const match = this.progress.map((line) => words.exec(line)).find((one) => one !== null);
        if (!match && this.#isEnded) return "ended";
        return match ?? false;
      },
      { what: `${words} of a drill`, deadlineMs: patienceMs, everyMs: 50 },
    );
    if (found === "ended") throw new Error(`it ended without ${words}: ${this.said()}`);
    return found as RegExpExecArray;
  }

  /** Waits for its end. @throws where it came to no verdict */
  async verdict(): Promise<DrillReport> {
    const code = await this.ended;
    if (process.env.DRILL_SAY) for (const line of this.progress) console.log(`  ${line}`);
    const verdict = this.documents.find(({ event }) => event === "verdict");
    if (!verdict) throw new Error(`exit ${code}: ${this.said()}`);
    return verdict as unknown as DrillReport;
  }

  said(): string {
    return `${this.#stderr}\n${this.#stdout.slice(-3_000)}`;
  }
}
