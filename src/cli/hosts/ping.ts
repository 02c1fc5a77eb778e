/** `escapement hosts ping`: logs in to every host and asks who it is, as root too. */
import type { Command } from "commander";
import { formatDuration } from "../../base/duration.ts";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import {
  chooseHosts,
  type InventoryOptions,
  requireInventory,
  withInventoryOption,
} from "../inventory-file.ts";
import { paint, print, printJson, say, table } from "../terminal.ts";
import { connectionFor, type ReachOptions, withReachOptions } from "./reach-options.ts";

const deadlineMs = 20_000;

interface Pong {
  readonly hostName: string;
  readonly kernel: string;
  readonly loginMs: number;
  readonly commandMs: number;
}

export function buildPing(): Command {
  const command = defineCommand("ping", "log in to hosts, become root, and say how long it took", {
    examples: ["escapement hosts ping", "escapement hosts ping -i inventory.yaml --json"],
    exitCodes: [
      ExitCode.ok,
      ExitCode.failed,
      ExitCode.partial,
      ExitCode.badData,
      ExitCode.unavailable,
      ExitCode.interrupted,
    ],
    notes: "One host that fails does not hold up the others; with some ok and some not the exit code is 3.",
  })
    .argument("[host...]", "only these")
    .option("--json", "print one JSON document")
    .option("--no-sudo", "do not try to become root");
  return withReachOptions(withInventoryOption(command)).action(
    async (names: string[], options: InventoryOptions & ReachOptions & { json?: boolean; sudo: boolean }) => {
      const inventory = await requireInventory(options);
      const { fleetExitCode, runFleet } = await import("../../remote/fleet.ts");
      const { monotonicMs } = await import("../../base/monotonic.ts");
      const { connect, concurrency, signal } = await connectionFor(options);
      const loginMs = new Map<string, number>();
      const results = await runFleet<Pong>({
        targets: chooseHosts(inventory, names, { withoutProfile: true }).map(({ target }) => target),
        connect: async (target) => {
          const startedMs = monotonicMs();
          const remote = await connect(target);
          loginMs.set(target.host, monotonicMs() - startedMs);
          return remote;
        },
        concurrency,
        signal,
        work: async (remote) => {
          const { stdout, durationMs } = await remote.exec({
            argv: ["uname", "-n", "-sr"],
            asRoot: options.sudo,
            deadlineMs,
          });
          // "Linux NODE RELEASE", in this order whatever the order of the options.
          const [, hostName = "unknown", kernel = "unknown"] = stdout.trim().split(" ");
          return {
            hostName,
            kernel,
            loginMs: Math.round(loginMs.get(remote.host) ?? 0),
            commandMs: Math.round(durationMs),
          };
        },
      });
      process.exitCode = fleetExitCode(results);
      if (options.json) {
        printJson({
          hosts: results.map((result) => ({ ...result, durationMs: Math.round(result.durationMs) })),
        });
        return;
      }
      const rows = results.map((result) =>
        result.status === "ok"
          ? [
              result.host,
              paint.green("ok"),
              `${result.value.hostName}, kernel ${result.value.kernel}; login ${ms(result.value.loginMs)}, command ${ms(result.value.commandMs)}`,
            ]
          : [result.host, paint.red(result.status), result.message],
      );
      print(table(["host", "status", ""], rows));
      for (const result of results) if (result.status !== "ok") say(`${result.host}: ${result.hint}`);
    },
  );
}

function ms(value: number): string {
  return formatDuration(Math.round(value));
}
