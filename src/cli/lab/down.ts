/** `escapement lab down`: nothing stays, from whatever point the lab had reached. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { say } from "../terminal.ts";
import { type LabChoice, withLabName } from "./which-lab.ts";

export function buildDown(): Command {
  const command = defineCommand("down", "take a lab away: hosts, network, disks, and the files it wrote", {
    examples: ["escapement lab down", "escapement lab down --name two", "escapement lab down --all"],
    exitCodes: [ExitCode.ok, ExitCode.refused, ExitCode.unavailable],
    notes: "Works also after a crash of escapement lab up, and twice. The cached root file system stays.",
  });
  return withLabName(command)
    .option("--all", "every lab of this machine")
    .action(async (options: LabChoice & { readonly all?: boolean }) => {
      const { namesOfLabs, takeDownLab } = await import("../../lab/lab.ts");
      const names = options.all ? namesOfLabs() : [options.name];
      for (const name of names) {
        await takeDownLab(name);
        say(`lab ${name} is gone`);
      }
      if (names.length === 0) say("no lab");
    });
}
