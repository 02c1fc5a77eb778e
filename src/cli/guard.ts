/** `escapement guard`: install it, see what is not settled, settle it, prune it. */
import type { Command } from "commander";
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { formatInstant } from "../base/instant.ts";
import { defineCommand } from "./command.ts";
import { type GuardUrlOptions, withGuardDatabase, withGuardUrl } from "./guard-url.ts";
import { countOption } from "./parse-option.ts";
import { type DeedOptions, deedOf, withDeedOptions } from "./person.ts";
import { paint, print, printJson, say, table } from "./terminal.ts";

/** Records of executions are kept for 13 months; a key must outlive the execution it belongs to. */
const fewestMonths = 14;

export function build(): Command {
  return defineCommand("guard", "make second runs harmless: install, list what is in doubt, settle it")
    .addCommand(installCommand())
    .addCommand(listCommand())
    .addCommand(resolveCommand())
    .addCommand(pruneCommand());
}

function installCommand(): Command {
  const command = defineCommand("install", "put the guard's tables and functions into a job's own database", {
    examples: [
      "escapement guard install --url postgres://owner@db/payroll --grant-to payroll_job",
      "escapement guard install --print-sql",
    ],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.badData, ExitCode.unavailable],
    notes:
      "Needs PostgreSQL 13 or newer. Running it again changes nothing, or brings an older schema up to date.",
  })
    .option("--grant-to <role>", "a role that may then use the guard")
    .option("--print-sql", "print the SQL for an empty database instead of running it")
    .option("--json", "print one JSON document");
  return withGuardUrl(command).action(
    async (options: GuardUrlOptions & { grantTo?: string; printSql?: boolean; json?: boolean }) => {
      const { guardInstallSql, installGuard } = await import("../store/guard-schema.ts");
      if (options.printSql) return print(guardInstallSql(options.grantTo));
      await withGuardDatabase(options, async (db) => {
        const done = await installGuard(db, options.grantTo);
        if (options.json) return printJson({ ...done });
        const what =
          done.versionBefore === 0
            ? `installed version ${done.version} in schema escapement_guard`
            : done.versionBefore === done.version
              ? `version ${done.version} was there already; functions are up to date`
              : `brought version ${done.versionBefore} to ${done.version}`;
        print(`${what}; ${done.partitionsCreated} monthly partitions created`);
      });
    },
  );
}

function listCommand(): Command {
  const command = defineCommand("list", "show calls, runs and items that are not settled", {
    examples: ["escapement guard list --in-doubt", "escapement guard list --json"],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unavailable],
    notes: "Exit 1 when a person has to settle something, so that a monitor can run it.",
  })
    .option("--in-doubt", "only what a person has to settle")
    .option("--json", "print one JSON document");
  return withGuardUrl(command).action(
    async (options: GuardUrlOptions & { inDoubt?: boolean; json?: boolean }) => {
      const { requireGuard } = await import("../store/guard-schema.ts");
      const { listOpen } = await import("../store/guard-list.ts");
      await withGuardDatabase(options, async (db) => {
        await requireGuard(db);
        const open = await listOpen(db, options.inDoubt ?? false);
        if (open.some((entry) => entry.in_doubt)) process.exitCode = ExitCode.failed;
        if (options.json) {
          return printJson({ open: open.map(({ in_doubt, ...entry }) => ({ ...entry, inDoubt: in_doubt })) });
        }
        if (open.length === 0)
          return print(options.inDoubt ? "nothing is in doubt" : "everything is settled");
        const rows = open.map((entry) => [
          entry.kind,
          entry.key,
          entry.in_doubt ? paint.red(entry.state) : entry.state,
          formatInstant(entry.since),
          entry.attempt === null ? "-" : String(entry.attempt),
          entry.detail,
        ]);
        print(table(["what", "key", "state", "since", "attempt", "detail"], rows));
        if (process.exitCode === ExitCode.failed) {
          say("ask the receiver, then: escapement guard resolve KEY --done or --retry --reason TEXT");
        }
      });
    },
  );
}

interface ResolveOptions extends GuardUrlOptions, DeedOptions {
  readonly done?: boolean;
  readonly retry?: boolean;
  readonly call?: boolean;
  readonly run?: boolean;
  readonly json?: boolean;
}

function resolveCommand(): Command {
  const command = defineCommand("resolve", "settle a call in doubt, or a run whose holder died", {
    examples: [
      'escapement guard resolve bonus/2026-07/user-17 --done --reason "the bank confirms, ref 4711"',
      'escapement guard resolve bonus/2026-07 --retry --reason "nothing was paid, checked with the bank"',
    ],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.unavailable],
    notes: "A call is named by its key, a run by job/fire-time or job/period, as guard list prints them.",
  })
    .argument("<key>")
    .option("--done", "it was done: never do it again")
    .option("--retry", "it was not done: the next run does it again")
    .option("--call", "the key is a call's, where a run has the same one")
    .option("--run", "the key is a run's, where a call has the same one")
    .option("--json", "print one JSON document");
  return withGuardUrl(withDeedOptions(command)).action(async (key: string, options: ResolveOptions) => {
    if (Boolean(options.done) === Boolean(options.retry)) {
      throw new EscapementError("E_USAGE", { what: "say either --done or --retry" });
    }
    const { requireGuard } = await import("../store/guard-schema.ts");
    const { namedBy } = await import("../store/guard-list.ts");
    const { settle } = await import("../store/guard-settle.ts");
    const { person, reason } = deedOf(options);
    const to = options.done ? "done" : "ready";
    await withGuardDatabase(options, async (db) => {
      await requireGuard(db);
      const kind = kindNamed(key, options, await namedBy(db, key));
      const before = await settle(db, { kind, key, to, by: person, reason });
      if (options.json) return printJson({ key, kind, before, after: to });
      print(`${kind} ${key}: ${before} is now ${options.done ? "done" : "ready to be tried again"}`);
    });
  });
}

/** What the key stands for: what was said, else what is there, what is open first. */
function kindNamed(
  key: string,
  options: ResolveOptions,
  named: readonly { readonly kind: "call" | "run"; readonly open: boolean }[],
): "call" | "run" {
  if (Boolean(options.call) !== Boolean(options.run)) return options.run ? "run" : "call";
  const open = named.filter((one) => one.open);
  const [kind, ...more] = new Set((open.length > 0 ? open : named).map((one) => one.kind));
  if (kind === undefined) {
    throw new EscapementError("E_REFUSED", {
      what: `no call and no run is named ${key}`,
      hint: "escapement guard list prints the keys of what is not settled",
    });
  }
  if (more.length > 0) {
    throw new EscapementError("E_USAGE", { what: `${key} is a call and a run: say --call or --run` });
  }
  return kind;
}

function pruneCommand(): Command {
  const command = defineCommand("prune", "drop old keys by the month, and create the months ahead", {
    examples: ["escapement guard prune --keep-months 14"],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.unavailable],
    notes: "Keys older than what is kept are refused from then on; they are never taken for new ones.",
  })
    .requiredOption(
      "--keep-months <n>",
      `whole months to keep, ${fewestMonths} or more`,
      countOption(fewestMonths),
    )
    .option("--json", "print one JSON document");
  return withGuardUrl(command).action(
    async (options: GuardUrlOptions & { keepMonths: number; json?: boolean }) => {
      const { requireGuard } = await import("../store/guard-schema.ts");
      const { pruneGuard } = await import("../store/guard-list.ts");
      await withGuardDatabase(options, async (db) => {
        await requireGuard(db);
        const done = await pruneGuard(db, options.keepMonths);
        if (options.json) return printJson({ ...done });
        print(`keys before ${done.mark} are refused`);
        for (const entry of done.dropped) print(`${entry.what}: ${entry.outcome}`);
        for (const name of done.created) print(`${name}: created`);
      });
    },
  );
}
