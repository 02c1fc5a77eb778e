/** `escapement drill`: faults on purpose, with proof and a way back. One file a subcommand, in drill/. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { defineCommand } from "./command.ts";
import { buildAbort } from "./drill/abort.ts";
import { buildHalt } from "./drill/halt.ts";
import { buildHistory } from "./drill/history.ts";
import { buildJudge } from "./drill/judge.ts";
import { buildKeygen } from "./drill/keygen.ts";
import { buildList } from "./drill/list.ts";
import { buildPlan } from "./drill/plan.ts";
import { buildProbe } from "./drill/probe.ts";
import { buildResume } from "./drill/resume.ts";
import { buildRun } from "./drill/run.ts";
import { buildSchedule } from "./drill/schedule.ts";
import { buildShow } from "./drill/show.ts";
import { buildStatus } from "./drill/status.ts";

export function build(): Command {
  const command = defineCommand("drill", "break it on purpose, prove it broke, put it back, judge it", {
    examples: [
      "escapement drill list",
      "escapement drill plan kill-executor -i inventory.yaml --cluster cluster.yaml",
      "escapement drill halt -i inventory.yaml --cluster cluster.yaml",
    ],
    exitCodes: [ExitCode.ok, ExitCode.badData],
  });
  for (const buildSubcommand of [
    buildList,
    buildShow,
    buildPlan,
    buildRun,
    buildStatus,
    buildAbort,
    buildHalt,
    buildResume,
    buildHistory,
    buildJudge,
    buildSchedule,
    buildKeygen,
  ])
    command.addCommand(buildSubcommand());
  command.addCommand(buildProbe(), { hidden: true });
  return command;
}
