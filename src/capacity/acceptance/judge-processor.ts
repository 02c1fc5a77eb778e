/** Processor, NUMA nodes and the kernel's clock source. */

import { factValue, whyUnknown } from "../../base/fact.ts";
import { counted } from "../format.ts";
import type { MachineFacts } from "./machine-facts.ts";
import { passIf, unknown, type Verdict } from "./verdict.ts";

export function judgeCores({ cores }: MachineFacts["cpu"], least: number): Verdict {
  const count = factValue(cores);
  if (count === undefined) return unknown(whyUnknown(cores));
  return passIf(count >= least, counted(count, "physical core"));
}

/** Fewer nodes than sockets: the firmware hides whose memory is whose. */
export function judgeNumaNodes({ sockets, numaNodes }: MachineFacts["cpu"]): Verdict {
  const count = factValue(sockets);
  if (count === undefined) return unknown(whyUnknown(sockets));
  if (!("known" in numaNodes)) return unknown(numaNodes.unknown);
  const nodes = numaNodes.known.length;
  return passIf(nodes >= count, `${counted(nodes, "NUMA node")} on ${counted(count, "socket")}`);
}

export function judgeClockSource({ source }: MachineFacts["clock"], oneOf: readonly string[]): Verdict {
  const name = factValue(source);
  if (name === undefined) return unknown(whyUnknown(source));
  return passIf(oneOf.includes(name), `clock source ${name}`);
}
