/** Processor, NUMA nodes and the kernel's clock source. */
import { parseCores, parseNumaNodes, parseSockets } from "./cpu-text.ts";
import { passIf, type Reading, unknown, type Verdict } from "./verdict.ts";

export function judgeCores(cpuinfo: Reading, least: number): Verdict {
  const cores = cpuinfo.text === undefined ? undefined : parseCores(cpuinfo.text);
  if (cores === undefined) return unknown(cpuinfo.reason || "the kernel lists no processor");
  return passIf(cores >= least, `${cores} physical cores`);
}

/** @param online /sys/devices/system/node/online */
export function judgeNumaNodes(cpuinfo: Reading, online: Reading): Verdict {
  const sockets = cpuinfo.text === undefined ? undefined : parseSockets(cpuinfo.text);
  const nodes = online.text === undefined ? undefined : parseNumaNodes(online.text);
  if (sockets === undefined) return unknown(cpuinfo.reason || "the kernel does not tell the sockets");
  if (nodes === undefined) return unknown(online.reason || "the kernel does not tell the NUMA nodes");
  return passIf(nodes >= sockets, `${nodes} NUMA node(s) on ${sockets} socket(s)`);
}

export function judgeClockSource(current: Reading, oneOf: readonly string[]): Verdict {
  const source = current.text?.trim();
  if (!source) return unknown(current.reason || "the kernel names no clock source");
  return passIf(oneOf.includes(source), `clock source ${source}`);
}
