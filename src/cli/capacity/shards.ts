/** `escapement capacity shards`: how many pieces a job is cut into. */
import type { Command } from "commander";
import { EscapementError } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import type { ShardAnswer } from "../../capacity/shards/choose.ts";
import { defineCommand } from "../command.ts";
import { paint, print, printJson, table } from "../terminal.ts";
import { durationOption, numberOption, serverOption, wholeOption } from "./options.ts";
import { plainText } from "./plain-text.ts";

interface ShardOptions {
  readonly total: string;
  readonly target: string;
  readonly nodes: string;
  readonly slots: string;
  readonly overhead: string;
  readonly spread: string;
  readonly takeover: string;
  readonly seed: string;
  readonly keys?: readonly string[];
  readonly keyColumn: string;
  readonly weightColumn?: string;
  readonly keysQuery?: string;
  readonly url?: string;
  readonly json?: boolean;
}

export function buildShards(): Command {
  return defineCommand("shards", "how many shards for a job, and why", {
    examples: [
      "escapement capacity shards --total 90m --target 3m --nodes 8",
      "escapement capacity shards --total 90m --target 3m --nodes 8 --keys payments.csv --key-column supplier_id",
      "escapement capacity shards --total 90m --target 3m --nodes 8 --json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.badData, ExitCode.unavailable],
    notes:
      "The work by key comes from CSV files (one line a key with its rows, or simply one line a row) or from a\nquery. Keys are shared out by the same hash that runs the job. Any number of lines is read in flat memory.",
  })
    .requiredOption("--total <duration>", "the work of one run as if one slot did all of it")
    .requiredOption("--target <duration>", "how long a shard should run; 2m to 10m, never above 15m")
    .requiredOption("--nodes <number>", "executor machines")
    .option("--slots <number>", "shards of this job that a machine runs at once", "1")
    .option("--overhead <duration>", "claim, record writes, process start and exit of one shard", "300ms")
    .option("--spread <number>", "spread of shard times: standard deviation over mean", "0.25")
    .option("--takeover <duration>", "until a lost machine's shards start elsewhere", "20s")
    .option("--seed <number>", "seed of the simulation", "1")
    .option("--keys <file...>", "CSV of the work by key")
    .option("--key-column <name>", "column of the key", "key")
    .option("--weight-column <name>", "column of the work; without it every line counts one")
    .option("--keys-query <sql>", "query that returns a key and its work, on --url")
    .option("--url <url>", "database for --keys-query")
    .option("--json", "print one JSON document")
    .action(async (options: ShardOptions) => {
      const answer = await ask(options);
      if (options.json) printJson(toJson(answer));
      else await printShards(answer);
    });
}

const dayMs = 86_400_000;

async function ask(options: ShardOptions): Promise<ShardAnswer> {
  const { candidateCounts, chooseShards } = await import("../../capacity/shards/choose.ts");
  const question = {
    totalMs: durationOption("--total", options.total),
    targetMs: durationOption("--target", options.target),
    nodes: numberOption("--nodes", options.nodes),
    slotsPerNode: wholeOption("--slots", options.slots, 1, 1_000),
    overheadMs: durationOption("--overhead", options.overhead, dayMs),
    spread: numberOption("--spread", options.spread),
    takeoverMs: durationOption("--takeover", options.takeover, dayMs),
    seed: wholeOption("--seed", options.seed),
  };
  if (question.spread < 0 || question.spread > 10) {
    throw new EscapementError("E_BAD_VALUE", {
      option: "--spread",
      value: question.spread,
      expected: "from 0 to 10",
      hint: "0.25 means that two thirds of the shards lie within a quarter of the mean",
    });
  }
  const counts = candidateCounts(question);
  const { tallyFiles, tallyQuery } = await import("./key-histogram.ts");
  if (options.keysQuery !== undefined) {
    if (options.url === undefined) throw new EscapementError("E_USAGE", { what: "--keys-query needs --url" });
    return chooseShards(
      question,
      await tallyQuery(serverOption("--url", options.url), options.keysQuery, counts),
    );
  }
  if (options.keys === undefined) return chooseShards(question);
  const columns = {
    key: options.keyColumn,
    ...(options.weightColumn !== undefined && { weight: options.weightColumn }),
  };
  return chooseShards(question, await tallyFiles(options.keys, columns, counts));
}

function toJson(answer: ShardAnswer): Record<string, unknown> {
  const brief = ({ skew, ...candidate }: ShardAnswer["chosen"]) => ({
    ...candidate,
    ...(skew && { skew: { ...skew, shardMs: undefined, shards: skew.shardMs.length } }),
  });
  return { ...answer, chosen: brief(answer.chosen), alternatives: answer.alternatives.map(brief) };
}

async function printShards(answer: ShardAnswer): Promise<void> {
  const { formatMs } = await import("../../capacity/format.ts");
  const { printAnswer } = await import("./print-answer.ts");
  const { chosen, alternatives } = answer;
  const extra = chosen.skew ? chosen.skew.shardMs.length - chosen.shards : 0;
  print(
    `${paint.bold(paint.green(`${chosen.shards} shards`))}${extra > 0 ? ` and ${extra} for keys of their own` : ""}: ${chosen.why}`,
  );
  print(`because ${answer.binding.why}`);
  if (chosen.skew && chosen.skew.split.length > 0) {
    print();
    print(
      table(
        ["key to split off", "share", "shards", "why"],
        chosen.skew.split.map((one) => [
          plainText(one.key),
          `${(one.share * 100).toFixed(1)} %`,
          String(one.parts),
          one.why,
        ]),
      ),
    );
  }
  if (alternatives.length > 0) {
    print();
    print(
      table(
        ["next best", "a shard", "longest", "ends within (95 of 100)", "one node lost", "remarks"],
        alternatives.map((one) => [
          String(one.shards),
          formatMs(one.shardMs),
          formatMs(one.longestShardMs),
          formatMs(one.makespan.p95Ms),
          one.makespan.oneNodeLostP95Ms === undefined ? "-" : formatMs(one.makespan.oneNodeLostP95Ms),
          one.why,
        ]),
      ),
    );
  }
  printAnswer(answer);
}
