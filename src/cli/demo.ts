/** `escapement demo`: the example cluster, killed while it works, and the proof that nothing was lost or doubled. */
import type { Command } from "commander";
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import type { DemoResult } from "../lab/demo/demo-result.ts";
import type { ProcessCluster } from "../lab/process-cluster.ts";
import { defineCommand } from "./command.ts";
import { countOption } from "./parse-option.ts";
import { print, printJson, say } from "./terminal.ts";

interface DemoCommandOptions {
  readonly data?: string;
  readonly seed?: number;
  readonly keep?: boolean;
  readonly json?: boolean;
}

const exitCodes: Record<DemoResult["verdict"], ExitCode> = {
  pass: ExitCode.ok,
  fail: ExitCode.failed,
  unknown: ExitCode.unknown,
};

export function build(): Command {
  return defineCommand("demo", "see it: a cluster that is killed while it settles and pays, and the proof", {
    examples: [
      "escapement demo",
      "escapement demo --seed 7 --json",
      "escapement demo --data payments/",
      "escapement demo --keep",
    ],
    exitCodes: [
      ExitCode.ok,
      ExitCode.failed,
      ExitCode.unknown,
      ExitCode.badData,
      ExitCode.unavailable,
      ExitCode.interrupted,
    ],
    notes:
      "Starts PostgreSQL, two schedulers and three executors as processes of this machine, on free ports of 127.0.0.1,\n" +
      "and ends and removes all of it. Takes less than a minute. 1 means that something was lost or doubled, 5 that\n" +
      "something could not be shown. A folder of --data holds one CSV file a month, named after it\n" +
      "(payments-2026-07.csv), with the columns row, payment_date, unit, supplier_id and amount.",
  })
    .option("--data <folder>", "settle real payments: one CSV file a month")
    .option("--seed <number>", "seed of what is generated (default: 1)", countOption(0, 2 ** 31 - 1))
    .option("--keep", "leave the cluster running until Ctrl-C, to look around in it")
    .option("--json", "print one JSON document")
    .action(demo);
}

async function demo(options: DemoCommandOptions): Promise<void> {
  const { runDemo } = await import("../lab/demo/demo.ts");
  const { resultText } = await import("./demo/result-text.ts");
  const { resultJson } = await import("./demo/result-json.ts");
  const ending = new AbortController();
  let shown = false;
  const onSignal = (signal: NodeJS.Signals) => {
    // Once more: somebody cannot wait. What we started ends by itself when we are gone.
    if (ending.signal.aborted) process.exit(ExitCode.interrupted);
    ending.abort(new EscapementError("E_INTERRUPTED", { signal }));
    if (!shown) say(`${signal}: ending everything first; once more to leave at once`);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
  const { verdict } = await runDemo(
    { seed: options.seed ?? 1, data: options.data },
    {
      signal: ending.signal,
      progress: (line, elapsedMs) => say(`${(elapsedMs / 1_000).toFixed(1).padStart(5)} s  ${line}`),
      async shown(result, cluster) {
        shown = true;
        if (options.json) printJson(resultJson(result));
        else print(resultText(result));
        if (!options.keep) return;
        say(keptText(cluster));
        if (!ending.signal.aborted)
          await new Promise((resolve) => ending.signal.addEventListener("abort", resolve, { once: true }));
      },
    },
  );
  process.exitCode = exitCodes[verdict];
}

/** How to look around in a cluster that was left running. */
function keptText(cluster: ProcessCluster): string {
  const program = process.argv[1]?.endsWith("escapement.mjs") ? "node bin/escapement.mjs" : "escapement";
  const nodes = cluster.nodes.map((node) => `${node.name} ${node.pid}`);
  return [
    "",
    "It keeps running until Ctrl-C, with its jobs paused. In another terminal:",
    "",
    `  export ESCAPEMENT_STORE_URL=${cluster.storeUrl}`,
    ...["status", "executions --limit 10", "jobs list"].map((command) => `  ${program} ${command}`),
    "",
    `Process numbers, to kill: ${nodes.join(", ")}`,
    `Logs: ${cluster.directory}/logs`,
    "",
  ].join("\n");
}
