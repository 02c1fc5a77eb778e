/** What the gather script reads below /sys/block and /sys/class/net: `disk sda` or `nic eth0`, then `name=value` lines. */
import { type Fact, fromValue, known, unknown } from "../../base/fact.ts";
import type { NicFacts } from "../host-facts.ts";
import { linesOf, type Output } from "../output.ts";
import { parseCount, parseDecimal } from "../quantity.ts";

export interface QueueFacts {
  readonly name: string;
  readonly sizeBytes: Fact<number>;
  readonly rotational: Fact<boolean>;
  readonly writeCache: Fact<"write back" | "write through">;
  readonly scheduler: Fact<string>;
  /** A path through the bus, or a virtual one. */
  readonly path: string;
}

export function parseBlockQueues(output: Output): QueueFacts[] {
  return groupsOf(output, "disk").map(([name, fields]) => {
    const rotational = fields.get("rotational");
    const cache = fields.get("write_cache");
    const scheduler = fields.get("scheduler") ?? "";
    const sectors = parseCount(fields.get("size"));
    return {
      name,
      // The kernel counts in 512 bytes here, whatever the drive's sectors are.
      sizeBytes: fromValue(sectors === undefined ? undefined : sectors * 512, "the kernel shows no size"),
      rotational: fromValue(
        rotational === "1" ? true : rotational === "0" ? false : undefined,
        "the kernel does not say whether it spins",
      ),
      writeCache:
        cache === "write back" || cache === "write through"
          ? known(cache)
          : unknown("the kernel does not show the write cache"),
      scheduler: fromValue(
        /\[([\w-]+)\]/.exec(scheduler)?.[1] ?? (/^[\w-]+$/.test(scheduler) ? scheduler : undefined),
        "the kernel shows no I/O scheduler",
      ),
      path: fields.get("path") ?? "",
    };
  });
}

export function parseNics(output: Output): NicFacts[] {
  return groupsOf(output, "nic").map(([name, fields]) => {
    const speed = parseDecimal(fields.get("speed"));
    const carrier = fields.get("carrier");
    const node = parseDecimal(fields.get("numa_node"));
    return {
      name,
      // -1: no link, or a kind of port that has no speed.
      speedMbps: fromValue(speed !== undefined && speed > 0 ? speed : undefined, "the port shows no speed"),
      hasCarrier: fromValue(
        carrier === "1" ? true : carrier === "0" ? false : undefined,
        "the port is not switched on, so it shows no carrier",
      ),
      numaNode: fromValue(node !== undefined && node >= 0 ? node : undefined, "the port names no node"),
      macAddress: fromValue(fields.get("address") || undefined, "the port shows no address"),
      isPhysical: fromValue(
        fields.has("physical") ? fields.get("physical") === "1" : undefined,
        "the kernel does not say what the port hangs on",
      ),
    };
  });
}

function groupsOf(output: Output, word: string): [string, Map<string, string>][] {
  const groups: [string, Map<string, string>][] = [];
  for (const line of linesOf(output)) {
    const name = new RegExp(`^${word} (\\S+)$`).exec(line)?.[1];
    if (name) groups.push([name, new Map()]);
    const pair = /^([a-z_]+)=(.*)$/.exec(line);
    const fields = groups.at(-1)?.[1];
    if (pair && fields && pair[2] !== "" && !fields.has(pair[1]!)) fields.set(pair[1]!, pair[2]!.trim());
  }
  return groups;
}
