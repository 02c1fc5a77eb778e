/** `escapement capacity concurrency`: shards at once on a machine, and what limits them. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import type { ConcurrencyAnswer, WorkClass } from "../../capacity/machine/concurrency.ts";
import { defineCommand } from "../command.ts";
import { paint, print, printJson } from "../terminal.ts";
import { type MachineOptions, requireMachine, withMachineOptions } from "./machine-options.ts";
import { choiceOption, numberOption, sizeOption } from "./options.ts";

interface ConcurrencyOptions extends MachineOptions {
  readonly class: string;
  readonly peak: string;
  readonly coresPerShard: string;
  readonly iopsPerShard: string;
  readonly networkPerShard?: string;
  readonly workload?: string;
  readonly json?: boolean;
}

export function buildConcurrency(): Command {
  const command = defineCommand("concurrency", "shards a machine runs at once, and which resource says so", {
    examples: [
      "escapement capacity concurrency --cores 32 --memory 256GiB --numa-nodes 2 --class cpu --peak 3GiB",
      "escapement capacity concurrency --workload workload.yaml --cores 32 --memory 256GiB",
      "escapement capacity concurrency --here --class io --peak 1GiB --iops 50000 --iops-per-shard 800 --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unknown, ExitCode.badData],
    notes: "Ends with 1 when not one shard fits.",
  });
  return withMachineOptions(command)
    .option("--class <name>", "cpu, memory, io or mixed", "mixed")
    .option("--peak <size>", "memory peak of one shard", "1GiB")
    .option("--cores-per-shard <number>", "cores one shard keeps busy", "1")
    .option("--iops-per-shard <number>", "disk operations a second of one shard", "0")
    .option("--network-per-shard <size>", "network bytes a second of one shard")
    .option("--workload <file>", "answer for every line of a workload")
    .option("--json", "print one JSON document")
    .action(async (options: ConcurrencyOptions) => {
      const answers = await ask(options);
      if (options.json) printJson({ answers });
      else await printConcurrency(answers);
      if (answers.some(({ answer }) => answer.slots === 0)) process.exitCode = ExitCode.failed;
    });
}

async function ask(options: ConcurrencyOptions): Promise<{ name: string; answer: ConcurrencyAnswer }[]> {
  const { estimateConcurrency, shardsPerCore } = await import("../../capacity/machine/concurrency.ts");
  const machine = await requireMachine(options);
  if (options.workload !== undefined) {
    const { loadWorkload } = await import("./data-files.ts");
    const { needOf } = await import("../../capacity/machine/workload-need.ts");
    const { spec } = await loadWorkload(options.workload);
    return spec.jobs.map((job) => ({ name: job.name, answer: estimateConcurrency(machine, needOf(job)) }));
  }
  const need = {
    class: choiceOption("--class", options.class, Object.keys(shardsPerCore) as WorkClass[]),
    cores: numberOption("--cores-per-shard", options.coresPerShard),
    peakBytes: sizeOption("--peak", options.peak),
    iops: numberOption("--iops-per-shard", options.iopsPerShard),
    networkBytes:
      options.networkPerShard === undefined ? 0 : sizeOption("--network-per-shard", options.networkPerShard),
  };
  return [{ name: need.class, answer: estimateConcurrency(machine, need) }];
}

async function printConcurrency(
  answers: readonly { name: string; answer: ConcurrencyAnswer }[],
): Promise<void> {
  const { printAnswer } = await import("./print-answer.ts");
  answers.forEach(({ name, answer }, i) => {
    if (i > 0) print();
    const text = `${answer.slots} ${answer.slots === 1 ? "shard" : "shards"} of ${name} at once`;
    print(
      `${paint.bold(answer.slots === 0 ? paint.red(text) : paint.green(text))}, limited by ${answer.binding.constraint}`,
    );
    printAnswer(answer);
  });
}
