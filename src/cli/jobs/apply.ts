/** `escapement jobs apply`: makes the store's jobs be what the files say. Again: nothing changes. */
import type { Command } from "commander";
import { isEscapementError, messageOf } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import type { Database } from "../../store/database.ts";
import type { Deed } from "../../store/operation.ts";
import { defineCommand } from "../command.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "../person.ts";
import { failOnProblems } from "../problems.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { paint, print, printJson, say } from "../terminal.ts";
import type { JobChange } from "./changes.ts";

interface ApplyOptions extends StoreOptions, DeedOptions {
  readonly prune?: boolean;
  readonly json?: boolean;
}

export interface Applied {
  readonly job: string;
  readonly outcome: string;
  readonly version?: number;
  readonly revoked?: number;
  readonly reason?: string;
}

export function buildApply(): Command {
  const command = defineCommand("apply", "bring the store's jobs to what the files say", {
    examples: ["escapement jobs apply jobs/ --cluster cluster.yaml --reason 'new close of month'"],
    exitCodes: [ExitCode.ok, ExitCode.partial, ExitCode.refused, ExitCode.badData, ExitCode.unavailable],
    notes:
      "Each job is one transaction. Planned executions of a changed job are taken back and planned anew; what is\ndue or runs goes on under its old definition.",
  })
    .argument("<path...>", "files or folders")
    .option("--prune", "delete jobs that no file names, but for those of drills (namespaces drill, drills)")
    .option("--json", "print one JSON document");
  return withDeedOptions(withStoreOptions(command)).action(async (paths: string[], options: ApplyOptions) => {
    const { readJobFiles } = await import("./job-files.ts");
    const { jobChanges } = await import("./changes.ts");
    const { jobs, problems } = await readJobFiles(paths, options.cluster);
    failOnProblems(problems);
    await withStore(options, async (db) => {
      const changes = await jobChanges(db, jobs, { prune: options.prune ?? false });
      const deed = deedOf(options);
      const applied: Applied[] = [];
      for (const change of changes) {
        applied.push(await applyOne(db, change, deed));
        if (changes.length > 200 && applied.length % 200 === 0)
          say(`${applied.length} of ${changes.length} jobs`);
      }
      if (options.json) printJson({ applied });
      else printApplied(applied);
      const refused = applied.filter((one) => one.outcome === "refused").length;
      if (refused > 0) process.exitCode = refused === applied.length ? ExitCode.refused : ExitCode.partial;
    });
  });
}

/** @returns what became of it; a refusal is a result */
export async function applyOne(db: Database, change: JobChange, deed: Deed): Promise<Applied> {
  const { applyJob, deleteJob } = await import("../../store/job-change.ts");
  if (change.action === "none") return { job: change.job, outcome: "unchanged" };
  try {
    if (change.action === "delete") {
      const { revoked } = await deleteJob(db, change.existing!, deed);
      return { job: change.job, outcome: "deleted", revoked };
    }
    const { outcome, version, revoked } = await applyJob(
      db,
      change.wanted!.definition,
      change.wanted!.digest,
      deed,
    );
    return { job: change.job, outcome, version, revoked };
  } catch (error) {
    if (!isEscapementError(error) || error.code !== "E_REFUSED") throw error;
    return { job: change.job, outcome: "refused", reason: `${messageOf(error)}; ${error.hint}` };
  }
}

export function printApplied(applied: readonly Applied[]): void {
  for (const { job, outcome, version, revoked, reason } of applied) {
    if (outcome === "unchanged") continue;
    const details = [
      version === undefined ? "" : `version ${version}`,
      revoked ? `${revoked} planned execution(s) taken back` : "",
      reason ?? "",
    ].filter(Boolean);
    const word = outcome === "refused" ? paint.red(outcome) : outcome;
    print(`${job}  ${word}${details.length > 0 ? `  ${details.join(", ")}` : ""}`);
  }
  const changed = applied.filter((one) => !["unchanged", "refused"].includes(one.outcome)).length;
  const refused = applied.filter((one) => one.outcome === "refused").length;
  print(
    `${changed} changed, ${applied.length - changed - refused} unchanged${refused > 0 ? `, ${refused} refused` : ""}`,
  );
}
