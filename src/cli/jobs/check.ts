/** `escapement jobs check`: are these files right? Needs no record store. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { printProblems } from "../problems.ts";
import { paint, print, printJson } from "../terminal.ts";
import type { JobFiles } from "./job-files.ts";

interface CheckOptions {
  readonly cluster?: string;
  readonly json?: boolean;
}

export function buildCheck(): Command {
  return defineCommand("check", "check job, policy set and cluster files; nothing is changed", {
    examples: [
      "escapement jobs check jobs/",
      "escapement jobs check jobs/ policies.yaml --cluster cluster.yaml",
      "escapement jobs check jobs/ --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.badData],
    notes:
      "Folders are read with everything below them that ends in .yaml or .yml. A problem is printed as\nfile:line:column, what is wrong, what was found, and what would be accepted.",
  })
    .argument("<path...>", "files or folders")
    .option("--cluster <file>", "check the jobs against this cluster, too")
    .option("--json", "print one JSON document")
    .action(async (paths: string[], options: CheckOptions) => {
      const { readJobFiles } = await import("./job-files.ts");
      const read = await readJobFiles(paths, options.cluster);
      if (options.json) printJson(toJson(read));
      else {
        printProblems(read.problems);
        print(summaryOf(read));
      }
      if (read.problems.length > 0) process.exitCode = ExitCode.badData;
    });
}

function toJson({ files, counts, jobs, problems }: JobFiles): Record<string, unknown> {
  return {
    ok: problems.length === 0,
    files,
    documents: counts,
    jobs: jobs.map(({ definition: { namespace, name }, digest, file, line }) => ({
      namespace,
      name,
      digest,
      file,
      line,
    })),
    problems,
  };
}

function summaryOf({ files, counts, problems }: JobFiles): string {
  const what = Object.entries(counts).map(([kind, number]) => count(number, kind));
  const where = `${what.length > 0 ? what.join(", ") : "no document"} in ${count(files, "file")}`;
  if (problems.length === 0) return paint.green(`ok: ${where}, no problem`);
  const bad = new Set(problems.map(({ file }) => file)).size;
  return paint.red(`not ok: ${count(problems.length, "problem")} in ${count(bad, "file")}; ${where}`);
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
