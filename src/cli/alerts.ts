/** `escapement alerts`: what is open, who was told, and how to keep it quiet. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { buildAck } from "./alerts/ack.ts";
import { buildCheck } from "./alerts/check-file.ts";
import { buildList } from "./alerts/list.ts";
import { buildSilence, buildUnsilence } from "./alerts/silence.ts";
import { buildTest } from "./alerts/test-channels.ts";
import { defineCommand } from "./command.ts";

export function build(): Command {
  const command = defineCommand("alerts", "list alerts, acknowledge or silence them, test the channels", {
    examples: ["escapement alerts list", "escapement alerts test --watch watch.yaml"],
    exitCodes: [ExitCode.ok],
  });
  for (const buildSubcommand of [buildList, buildAck, buildSilence, buildUnsilence, buildTest, buildCheck])
    command.addCommand(buildSubcommand());
  return command;
}
