/** `escapement capacity memory`: what to set aside for one running shard. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import type { Answer } from "../../capacity/figure.ts";
import { defineCommand } from "../command.ts";
import { paint, print, printJson } from "../terminal.ts";
import { sizeOption } from "./options.ts";

interface MemoryOptions {
  readonly heap?: string;
  readonly offHeap?: string;
  readonly pageCache?: string;
  readonly others?: string;
  readonly peak?: string;
  readonly numaNode?: string;
  readonly workload?: string;
  readonly json?: boolean;
}

export function buildMemory(): Command {
  return defineCommand("memory", "memory to set aside for one running shard", {
    examples: [
      "escapement capacity memory --heap 8GiB --off-heap 2GiB --page-cache 1GiB --others 512MiB",
      "escapement capacity memory --peak 6GiB --numa-node 64GiB",
      "escapement capacity memory --workload workload.yaml --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  })
    .option("--heap <size>", "the heap a runtime is given")
    .option("--off-heap <size>", "buffers, stacks and code outside the heap")
    .option("--page-cache <size>", "file cache the job needs to be fast")
    .option("--others <size>", "programs the job starts besides itself")
    .option("--peak <size>", "the measured peak (memory.peak of the cgroup), in place of the parts")
    .option("--numa-node <size>", "memory of one NUMA node, to see how many fit")
    .option("--workload <file>", "answer for every line of a workload")
    .option("--json", "print one JSON document")
    .action(async (options: MemoryOptions) => {
      const answers = await ask(options);
      if (options.json) printJson({ answers });
      else await printMemory(answers);
    });
}

async function ask(options: MemoryOptions): Promise<{ name: string; answer: Answer }[]> {
  const { estimateMemory } = await import("../../capacity/machine/memory.ts");
  const size = (option: string, text: string | undefined) =>
    text === undefined ? undefined : sizeOption(option, text);
  const nodeBytes = size("--numa-node", options.numaNode);
  const node = nodeBytes === undefined ? {} : { nodeBytes };
  if (options.workload !== undefined) {
    const { loadWorkload } = await import("./data-files.ts");
    const { memoryParts } = await import("../../capacity/machine/workload-need.ts");
    const { spec } = await loadWorkload(options.workload);
    return spec.jobs.map((job) => ({
      name: job.name,
      answer: estimateMemory({ parts: memoryParts(job), ...node }),
    }));
  }
  const parts = {
    heapBytes: size("--heap", options.heap),
    offHeapBytes: size("--off-heap", options.offHeap),
    pageCacheBytes: size("--page-cache", options.pageCache),
    othersBytes: size("--others", options.others),
    peakBytes: size("--peak", options.peak),
  };
  return [{ name: "shard", answer: estimateMemory({ parts, ...node }) }];
}

async function printMemory(answers: readonly { name: string; answer: Answer }[]): Promise<void> {
  const { formatFigure } = await import("../../capacity/format.ts");
  const { printAnswer } = await import("./print-answer.ts");
  answers.forEach(({ name, answer }, i) => {
    if (i > 0) print();
    print(
      `${paint.bold(paint.green(formatFigure(answer.figures.reserve!)))} for one ${name === "shard" ? "shard" : `shard of ${name}`}`,
    );
    printAnswer(answer);
  });
}
