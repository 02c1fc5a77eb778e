/** `escapement capacity`: numbers to buy hardware by. One file a subcommand, in capacity/. */
import type { Command } from "commander";
import { ExitCode } from "../base/exit-code.ts";
import { buildAccept } from "./capacity/accept.ts";
import { buildConcurrency } from "./capacity/concurrency.ts";
import { buildFromCluster } from "./capacity/from-cluster.ts";
import { buildIops } from "./capacity/iops.ts";
import { buildMemory } from "./capacity/memory.ts";
import { buildPeak } from "./capacity/peak.ts";
import { buildShards } from "./capacity/shards.ts";
import { buildSheetCommand } from "./capacity/sheet.ts";
import { buildStorage } from "./capacity/storage.ts";
import { buildTopology } from "./capacity/topology.ts";
import { buildVerify } from "./capacity/verify.ts";
import { defineCommand } from "./command.ts";

const summary = "how many shards, how much disk and memory, what to order";

export function build(): Command {
  const command = defineCommand("capacity", summary, {
    examples: [
      "escapement capacity shards --total 90m --target 3m --nodes 8",
      "escapement capacity storage --runs-per-day 2000 --shards 100 --row-bytes 1000",
      "escapement capacity sheet -o order.xlsx",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unknown, ExitCode.badData],
  });
  const subcommands = [
    buildShards,
    buildStorage,
    buildIops,
    buildMemory,
    buildConcurrency,
    buildTopology,
    buildPeak,
    buildSheetCommand,
    buildAccept,
    buildVerify,
    buildFromCluster,
  ];
  for (const buildSubcommand of subcommands) command.addCommand(buildSubcommand());
  return command;
}
