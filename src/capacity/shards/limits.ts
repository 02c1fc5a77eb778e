/** The rules a shard count has to obey, as numbers, and the first count that obeys them all. */

import { formatDuration } from "../../base/duration.ts";
import { EscapementError } from "../../base/errors.ts";
import { maxShards } from "../../spec/shard-count.ts";

/** A shard is meant to run at least this long: below, overhead outgrows work. */
export const shortestMs = 2 * 60_000;
/** A shard is meant to run at most this long: a retry must stay cheap. */
export const longestMs = 10 * 60_000;
/** A shard never runs longer: people start repairing by hand. */
export const ceilingMs = 15 * 60_000;
export const fewestPerNode = 3;
export const mostPerNode = 5;

export interface Limit {
  readonly name: string;
  /** The number of shards it asks for at least (or allows at most, for `at most` limits). */
  readonly shards: number;
  readonly formula: string;
  readonly kind: "at least" | "at most";
}

export interface LimitsInput {
  readonly totalMs: number;
  readonly targetMs: number;
  readonly nodes: number;
}

/** @throws E_BAD_VALUE for input that no shard count can fit. */
export function checkInput({ totalMs, targetMs, nodes }: LimitsInput): void {
  const bad = (option: string, value: string | number, expected: string, hint: string) => {
    throw new EscapementError("E_BAD_VALUE", { option, value, expected, hint });
  };
  if (!Number.isInteger(nodes) || nodes < 1)
    bad("--nodes", nodes, "a whole number of at least 1", "count the executor machines");
  if (nodes > maxShards)
    bad("--nodes", nodes, `at most ${maxShards}`, "an execution has at most that many shards");
  if (!(totalMs > 0))
    bad("--total", formatDuration(totalMs), "longer than nothing", "give the work of one run on one slot");
  if (!(targetMs > 0))
    bad("--target", formatDuration(targetMs), "longer than nothing", "2m to 10m is the range that works");
  if (targetMs > totalMs) {
    const hint = "a job this short needs no shards, or a shorter target";
    bad("--target", formatDuration(targetMs), `at most the whole job (${formatDuration(totalMs)})`, hint);
  }
  if (targetMs > ceilingMs) {
    bad(
      "--target",
      formatDuration(targetMs),
      `at most ${formatDuration(ceilingMs)}`,
      "a shard of that length is too dear to retry; 2m to 10m is the range that works",
    );
  }
  if (Math.ceil(totalMs / targetMs) > maxShards) {
    const least = formatDuration(Math.ceil(totalMs / maxShards / 1000) * 1000);
    bad(
      "--target",
      formatDuration(targetMs),
      `long enough for ${maxShards} shards`,
      `use at least ${least}, or split the job`,
    );
  }
}

/** All limits, in the order in which they are explained. */
export function limitsOf({ totalMs, targetMs, nodes }: LimitsInput): readonly Limit[] {
  const total = formatDuration(totalMs);
  const target = formatDuration(targetMs);
  const shortest = Math.min(shortestMs, targetMs);
  return [
    {
      name: "target time",
      kind: "at least",
      shards: Math.ceil(totalMs / targetMs - 1e-9),
      formula: `⌈${total} ÷ ${target}⌉`,
    },
    {
      name: "shards per node",
      kind: "at least",
      shards: fewestPerNode * nodes,
      formula: `${fewestPerNode} × ${nodes} nodes`,
    },
    {
      name: "longest time",
      kind: "at least",
      shards: Math.ceil(totalMs / ceilingMs - 1e-9),
      formula: `⌈${total} ÷ ${formatDuration(ceilingMs)}⌉`,
    },
    {
      name: "shortest time",
      kind: "at most",
      shards: Math.max(1, Math.floor(totalMs / shortest + 1e-9)),
      formula: `⌊${total} ÷ ${formatDuration(shortest)}⌋`,
    },
  ];
}

export interface FirstChoice {
  readonly shards: number;
  readonly constraint: string;
  readonly why: string;
}

/**
 * The smallest multiple of the nodes that obeys every "at least" limit, or,
 * where that would make shards too short, the largest one that does not.
 */
export function firstChoice(input: LimitsInput): FirstChoice {
  const limits = limitsOf(input);
  const { nodes } = input;
  const leasts = limits.filter(({ kind }) => kind === "at least");
  const binding = leasts.reduce((most, limit) => (limit.shards > most.shards ? limit : most));
  const most = limits.find(({ kind }) => kind === "at most")!;
  const roundedUp = Math.ceil(binding.shards / nodes) * nodes;
  if (roundedUp <= most.shards || binding.name === "target time") {
    const rounding =
      roundedUp === binding.shards ? "" : `, rounded up to a multiple of ${nodes} nodes = ${roundedUp}`;
    return {
      shards: roundedUp,
      constraint: binding.name,
      why: `${binding.formula} = ${binding.shards}${rounding}`,
    };
  }
  const roundedDown = Math.floor(most.shards / nodes) * nodes;
  if (roundedDown >= nodes) {
    return {
      shards: roundedDown,
      constraint: most.name,
      why: `${binding.formula} = ${binding.shards} would make shards shorter than ${formatDuration(shortestMs)}; ${most.formula} = ${most.shards}, rounded down to a multiple of ${nodes} nodes = ${roundedDown}`,
    };
  }
  return {
    shards: nodes,
    constraint: "never fewer than nodes",
    why: `the work is too small for ${nodes} nodes: one shard a node, each shorter than ${formatDuration(shortestMs)}`,
  };
}
