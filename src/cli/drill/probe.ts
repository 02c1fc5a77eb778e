/** `escapement drill probe`: what the jobs of a running drill execute; started by executors, not by people. */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";

export function buildProbe(): Command {
  return defineCommand("probe", "one attempt of a drill's own work (started by executors)", {
    examples: ["escapement drill probe"],
    exitCodes: [ExitCode.ok, ExitCode.usage],
    notes: "Reads WITNESS_HOST, WITNESS_PORT, WITNESS_MODE and what an executor gives every attempt.",
  }).action(async () => {
    const { speakToWitness, wrongEnvironment } = await import("../../chaos/drill/probe-client.ts");
    const code = await speakToWitness(process.env);
    if (code === wrongEnvironment)
      throw new EscapementError("E_USAGE", {
        what: "drill probe needs WITNESS_HOST, WITNESS_PORT, WITNESS_MODE and the environment of an attempt; jobs of a drill have them",
      });
    process.exitCode = code;
  });
}
