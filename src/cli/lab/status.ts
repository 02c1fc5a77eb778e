/** `escapement lab status`: which labs there are, how their hosts are, and what this tier can show at all. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import type { LabHostStatus } from "../../lab/lab.ts";
import { defineCommand } from "../command.ts";
import { paint, print, printJson, table } from "../terminal.ts";

export function buildStatus(): Command {
  return defineCommand("status", "the labs, their hosts, and what they can and cannot show", {
    examples: ["escapement lab status", "escapement lab status --name two --json"],
    exitCodes: [ExitCode.ok, ExitCode.unavailable],
  })
    .option("--name <lab>", "only this lab; default: all")
    .option("--json", "print one JSON document")
    .action(async (options: { readonly name?: string; readonly json?: boolean }) => {
      const { capabilities, whyNoHosts } = await import("../../lab/hosts/capabilities.ts");
      const { whyNoMachines } = await import("../../lab/vm/accelerator.ts");
      const { overviewOfLabs } = await import("../../lab/lab.ts");
      const labs = await overviewOfLabs(options.name);
      const reason = await whyNoHosts();
      const machines = labs.flatMap((lab) => lab.hosts.filter((host) => host.machine === "virtual"));
      const abilities = capabilities(
        reason,
        machines.map((host) => host.name),
      );
      const noMachines = reason ?? whyNoMachines();
      const tiers = [
        { tier: "process", available: true },
        { tier: "hosts", available: reason === undefined, ...(reason === undefined ? {} : { reason }) },
        { tier: "vm", available: noMachines === undefined, ...(noMachines ? { reason: noMachines } : {}) },
      ];
      if (options.json) return printJson({ labs, tiers, capabilities: abilities });
      if (labs.length === 0) print("no lab");
      for (const lab of labs) {
        print(
          `lab ${lab.name}: ${lab.condition}${lab.inventoryFile ? `, inventory ${lab.inventoryFile}` : ""}${lab.clusterFile ? `, cluster ${lab.clusterFile}` : ""}`,
        );
        if (lab.hosts.length > 0)
          print(
            `${table(["host", "address", "profile", "machine", "power", "clock", "cut"], rows(lab.hosts))}\n`,
          );
      }
      if (reason !== undefined) print(`no hosts here: ${reason}`);
      const verdicts = abilities.map((one) => [
        one.name,
        one.needs === undefined ? paint.green("available") : paint.yellow(`unknown: ${one.needs}`),
        one.reason,
      ]);
      print(table(["what", "verdict", "why"], verdicts));
    });
}

function rows(hosts: readonly LabHostStatus[]): string[][] {
  return hosts.map((host) => [
    host.name,
    host.address,
    host.profile,
    host.machine,
    host.power,
    host.clockOffsetSeconds === 0
      ? "right"
      : `${host.clockOffsetSeconds > 0 ? "+" : ""}${host.clockOffsetSeconds} s`,
    host.cuts
      .map(
        (cut) =>
          `${cut.direction === "receive" ? "receives nothing" : "cut"} from ${cut.peers.length === 0 ? "all" : cut.peers.join(", ")}`,
      )
      .join("; ") || "-",
  ]);
}
