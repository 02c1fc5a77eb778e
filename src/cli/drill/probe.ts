/** `escapement drill probe`: what the jobs of a running drill execute; started by executors, not by people. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";

export function buildProbe(): Command {
  return defineCommand("probe", "one attempt of a drill's own work (started by executors)", {
    examples: ["escapement drill probe"],
    exitCodes: [ExitCode.ok],
    notes: "Reads WITNESS_HOST, WITNESS_PORT, WITNESS_MODE and what an executor gives every attempt.",
  }).action(async () => {
    const { speakToWitness } = await import("../../chaos/drill/probe-client.ts");
    process.exitCode = await speakToWitness(process.env);
  });
}
