/** `escapement jobs`: everything about job definitions. One file a subcommand, in jobs/. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";
import { buildCheck } from "./jobs/check.ts";
import { buildSchema } from "./jobs/schema.ts";

export function build(): Command {
  const command = defineCommand("jobs", "check, plan, apply and list job files; pause, resume, delete", {
    examples: ["escapement jobs check jobs/ --cluster cluster.yaml", "escapement jobs check --help"],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  });
  for (const buildSubcommand of [buildCheck, buildSchema]) command.addCommand(buildSubcommand());
  return command;
}
