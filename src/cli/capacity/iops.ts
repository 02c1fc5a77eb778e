/** `escapement capacity iops`: can the record store's disk keep up in the busiest minutes? */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import type { Answer } from "../../capacity/figure.ts";
import type { DiskLayout, Medium } from "../../capacity/iops/media.ts";
import { defineCommand } from "../command.ts";
import { paint, print, printJson } from "../terminal.ts";
import { choiceOption, wholeOption } from "./options.ts";

interface IopsOptions {
  readonly workload?: string;
  readonly runsPerDay?: string;
  readonly shards?: string;
  readonly batch?: string;
  readonly busiestShare?: string;
  readonly busiestWithin?: string;
  readonly sessions?: string;
  readonly medium: string;
  readonly catalogue?: string;
  readonly disk?: string;
  readonly layout: string;
  readonly disks: string;
  readonly measure?: string;
  readonly json?: boolean;
}

export function buildIops(): Command {
  return defineCommand("iops", "commits and flushes in the busiest minutes, and what the disk can do", {
    examples: [
      "escapement capacity iops --runs-per-day 2000 --shards 100 --medium protected-ssd --layout raid10 --disks 4",
      "escapement capacity iops --measure /var/lib/postgresql --layout single --disks 1",
      "escapement capacity iops --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unknown, ExitCode.badData],
    notes:
      "Ends with 1 when the record store cannot keep up. --measure writes a small file in the folder, for about 15 s, with\npg_test_fsync and, where it is installed, fio; what cannot be measured is unknown and ends with 5.",
  })
    .option("--workload <file>", "workload file")
    .option("--runs-per-day <number>", "executions a day, all jobs together")
    .option("--shards <number>", "shards of an execution")
    .option("--batch <number>", "shards claimed, and completed, in one transaction")
    .option("--busiest-share <number>", "part of the day's work in the busiest window")
    .option("--busiest-within <duration>", "length of that window")
    .option("--sessions <number>", "executors that commit at a time (default: the workload's machines)")
    .option("--medium <name>", "hdd, consumer-ssd, protected-cache or protected-ssd", "protected-ssd")
    .option("--catalogue <file>", "catalogue that has the disk")
    .option("--disk <id>", "a disk of the catalogue, in place of --medium")
    .option("--layout <name>", "single, raid0, raid1, raid10, raid5 or raid6", "raid1")
    .option("--disks <number>", "drives in the layout", "2")
    .option("--measure <folder>", "measure the disk under this folder, here and now")
    .option("--json", "print one JSON document")
    .action(async (options: IopsOptions) => {
      const { answer, measurement } = await ask(options);
      const { flushHeadroom, writeHeadroom, cpuHeadroom } = answer.figures;
      const headroom = Math.min(flushHeadroom!.value, writeHeadroom!.value, cpuHeadroom!.value);
      const writesUnknown = measurement !== undefined && !measurement.writesMeasured;
      if (options.json) printJson({ ...answer, ...(measurement && { measurement }) });
      else await printIops(answer, headroom, writesUnknown);
      if (headroom < 1) process.exitCode = ExitCode.failed;
      else if (writesUnknown) process.exitCode = ExitCode.unknown;
    });
}

interface DiskFigures {
  readonly medium: Medium;
  readonly writesMeasured: boolean;
  readonly notes: readonly string[];
}

async function ask(options: IopsOptions): Promise<{ answer: Answer; measurement?: DiskFigures }> {
  const [
    { storageQuestion },
    { estimateIops },
    { simulateSample, textBytes },
    { recordShapes },
    { writePenalty },
    { loadWorkload },
  ] = await Promise.all([
    import("./storage.ts"),
    import("../../capacity/iops/estimate.ts"),
    import("../../capacity/storage/sample.ts"),
    import("../../capacity/storage/record-shape.ts"),
    import("../../capacity/iops/media.ts"),
    import("./data-files.ts"),
  ]);
  const question = await storageQuestion(options);
  const layout = choiceOption("--layout", options.layout, Object.keys(writePenalty) as DiskLayout[]);
  const disks = wholeOption("--disks", options.disks, 1, 10_000);
  const sessions =
    options.sessions === undefined
      ? (await loadWorkload(options.workload)).spec.executorNodes
      : wholeOption("--sessions", options.sessions, 1, 100_000);
  const measured = options.measure === undefined ? undefined : await measure(options.measure, disks);
  const medium = measured?.medium ?? (await mediumOf(options));
  const { checkQuestion } = await import("../../capacity/storage/question.ts");
  checkQuestion(question);
  const sample = simulateSample(question, textBytes(question, recordShapes).inRow, recordShapes);
  const answer = estimateIops({
    runsPerDay: question.runsPerDay,
    shards: question.shards,
    batch: question.batch,
    busiestShare: question.busiestShare,
    busiestMs: question.busiestMs,
    sessions,
    walPerShard: sample.wal,
    bytesPerShard: sample.heap + sample.index,
    medium,
    layout,
    disks,
    isMeasured: measured !== undefined,
  });
  return {
    answer: { ...answer, notes: [...(measured?.notes ?? []), ...answer.notes] },
    ...(measured && { measurement: measured }),
  };
}

async function mediumOf({ medium, catalogue, disk }: IopsOptions): Promise<Medium> {
  const { mediumNamed } = await import("../../capacity/iops/media.ts");
  if (disk === undefined) return mediumNamed(medium);
  const { loadCatalogue } = await import("./data-files.ts");
  const { spec, file } = await loadCatalogue(catalogue);
  const drives = spec.parts.filter((part) => part.type === "disk");
  const found = drives.find(({ id }) => id === disk);
  if (!found) {
    throw new EscapementError("E_BAD_VALUE", {
      option: "--disk",
      value: disk,
      expected: `a disk of ${file}`,
      hint: `it has ${drives.map(({ id }) => id).join(", ")}`,
    });
  }
  return {
    name: found.title,
    flushesPerSecond: found.flushesPerSecond,
    writeIops: found.writeIops,
    readIops: found.readIops,
    powerLossProtection: found.powerLossProtection,
  };
}

async function measure(folder: string, disks: number): Promise<DiskFigures> {
  const { measureDisk } = await import("./measure-disk.ts");
  const disk = await measureDisk(folder, "--measure");
  if (disk.flushesPerSecond === undefined) {
    throw new EscapementError("E_UNKNOWN", {
      what: `how fast the disk under ${folder} flushes (${disk.notes.join("; ")})`,
      hint: "install PostgreSQL, which brings pg_test_fsync, or name a --medium",
    });
  }
  const notes = [...disk.notes];
  if (disk.writeIops === undefined)
    notes.push("Writes a second were not measured; the planning figure of a protected SSD stands in.");
  return {
    medium: {
      name: `measured in ${folder}`,
      flushesPerSecond: disk.flushesPerSecond,
      // fio saw the whole array; the calculator multiplies by drives.
      writeIops: (disk.writeIops ?? 50_000) / disks,
      readIops: disk.readIops ?? 50_000,
      powerLossProtection: disk.hasVolatileCache !== true,
    },
    writesMeasured: disk.writeIops !== undefined,
    notes,
  };
}

async function printIops(answer: Answer, headroom: number, writesUnknown: boolean): Promise<void> {
  const { formatFigure } = await import("../../capacity/format.ts");
  const { printAnswer } = await import("./print-answer.ts");
  const { peakCommits } = answer.figures;
  const verdict =
    headroom < 1
      ? paint.red("the record store cannot keep up")
      : writesUnknown
        ? paint.yellow("unknown: writes a second were not measured")
        : paint.green(`the record store has ${headroom.toFixed(1)} × what is needed`);
  print(`${paint.bold(verdict)}: ${formatFigure(peakCommits!)} commits in the busiest window`);
  printAnswer(answer);
}
