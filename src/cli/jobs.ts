/** `escapement jobs`: everything about job definitions. One file a subcommand, in jobs/. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";
import { buildApply } from "./jobs/apply.ts";
import { buildCheck } from "./jobs/check.ts";
import { buildList } from "./jobs/list.ts";
import { buildNext } from "./jobs/next.ts";
import { buildPlan } from "./jobs/plan.ts";
import { buildSchema } from "./jobs/schema.ts";
import { buildShow } from "./jobs/show.ts";
import { buildDelete, buildPause, buildResume } from "./jobs/state.ts";

const subcommands = [
  buildCheck,
  buildPlan,
  buildApply,
  buildList,
  buildShow,
  buildNext,
  buildPause,
  buildResume,
  buildDelete,
  buildSchema,
];

export function build(): Command {
  const command = defineCommand("jobs", "check, plan, apply and list job files; pause, resume, delete", {
    examples: ["escapement jobs check jobs/ --cluster cluster.yaml", "escapement jobs check --help"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  });
  for (const buildSubcommand of subcommands) command.addCommand(buildSubcommand());
  return command;
}
