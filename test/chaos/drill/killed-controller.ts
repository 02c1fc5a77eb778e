/** A controller of a drill in a process of its own, which a test listens to and kills. */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { build } from "esbuild";
import { until } from "../../support/until.ts";
import type { ControllerTask } from "./controller.ts";

const program = "controller.mjs";

/** Bundles the program of {@link Controller} into a folder. */
export async function buildController(folder: string): Promise<void> {
  await build({
    entryPoints: [join(import.meta.dirname, "controller.ts")],
    outfile: join(folder, program),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["pg-native"],
    banner: {
      js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
    },
    logLevel: "warning",
  });
}

export class Controller {
  readonly process: ChildProcess;
  said = "";

  constructor(folder: string, task: ControllerTask) {
    this.process = spawn(process.execPath, [join(folder, program)], {
      env: { ...process.env, CONTROLLER_TASK: JSON.stringify(task) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.process.stdout!.on("data", (part) => (this.said += part));
  }

  async heard(words: string): Promise<void> {
    const isOver = () => this.process.exitCode !== null;
    await until(() => this.said.includes(words) || isOver(), { what: words, deadlineMs: 120_000 });
    // What it said last may still be on its way here.
    if (isOver())
      await until(() => this.said.includes(words), { what: `${words} in: ${this.said}`, deadlineMs: 2_000 });
  }

  async end(signal: NodeJS.Signals): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => this.process.once("exit", (code) => resolve(code)));
    this.process.kill(signal);
    return ended;
  }
}
