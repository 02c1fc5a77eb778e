/** Processors and memory. */
import { factValue, reasonOf, seenOf } from "../../base/fact.ts";
import type { Dimm, HostFacts } from "../host-facts.ts";
import { bad, good, isVirtual, unjudged, type Verdict } from "./verdict.ts";

export function machineFindings(host: HostFacts): Verdict[] {
  return [numa(host), hugePages(host), ecc(host), ...speed(host), ...balance(host)];
}

function numa(host: HostFacts): Verdict {
  const id = "numa-hidden";
  const sockets = factValue(host.cpu.sockets);
  const nodes = factValue(host.cpu.numaNodes)?.length;
  if (sockets === undefined || nodes === undefined)
    return unjudged(id, reasonOf(host.cpu.sockets) ?? reasonOf(host.cpu.numaNodes) ?? "");
  const evidence = `${sockets} socket(s), ${nodes} NUMA node(s)`;
  if (sockets <= nodes) return good(id, evidence);
  return bad(id, isVirtual(host) ? "info" : "warning", {
    reason: "several sockets show as one NUMA node, so memory of the other socket looks as near as one's own",
    action: isVirtual(host)
      ? "let the host below pass its topology on"
      : "switch node interleaving off (NUMA on) in the firmware",
    evidence,
  });
}

function hugePages(host: HostFacts): Verdict {
  const id = "huge-pages-always";
  const mode = factValue(host.transparentHugePages);
  if (mode === undefined) return unjudged(id, reasonOf(host.transparentHugePages) ?? "");
  if (mode !== "always") return good(id, mode);
  return bad(id, "warning", {
    reason:
      "transparent huge pages for everyone let programs with many threads take far more memory than they use",
    action: "set transparent_hugepage=madvise",
    evidence: "always",
  });
}

/** Firmware tables of virtual machines describe nothing real. */
const below = "a virtual machine: only the host below knows its modules";

function ecc(host: HostFacts): Verdict {
  const id = "memory-without-ecc";
  if (isVirtual(host)) return unjudged(id, below);
  const kind = factValue(host.memory.ecc);
  if (kind === undefined) return unjudged(id, reasonOf(host.memory.ecc) ?? "");
  if (kind === "single-bit" || kind === "multi-bit" || kind === "crc") return good(id, kind);
  return bad(id, "warning", {
    reason: "memory without error correction changes data and says nothing",
    action: "use modules and a board with ECC for anything that moves money",
    evidence: `error correction: ${kind}`,
  });
}

function speed(host: HostFacts): Verdict[] {
  const id = "memory-below-rated-speed";
  if (isVirtual(host)) return [unjudged(id, below)];
  const dimms = seenOf(host.memory.dimms);
  const slow = dimms.filter((dimm) => {
    const [rated, set] = [factValue(dimm.ratedMtps), factValue(dimm.configuredMtps)];
    return rated !== undefined && set !== undefined && set < rated;
  });
  if (slow.length > 0)
    return [
      bad(id, "warning", {
        reason: "memory modules run slower than they are rated",
        action:
          "look for mixed or too many modules a channel, the processor's own limit, or a firmware setting",
        evidence: `${slow.length} of ${dimms.length} modules, ${describe(slow[0]!)}`,
      }),
    ];
  const reason = reasonOf(host.memory.dimms);
  if (reason !== undefined) return [unjudged(id, reason)];
  const silent = dimms.find((dimm) => "unknown" in dimm.ratedMtps || "unknown" in dimm.configuredMtps);
  if (silent) return [unjudged(id, `module ${silent.locator} does not tell both speeds`)];
  return dimms.length === 0
    ? [unjudged(id, "no module is listed")]
    : [good(id, `${dimms.length} modules at rated speed`)];
}

function describe(dimm: Dimm): string {
  return `${dimm.locator}: ${factValue(dimm.configuredMtps)} of ${factValue(dimm.ratedMtps)} MT/s`;
}

function balance(host: HostFacts): Verdict[] {
  const id = "memory-unbalanced";
  if (isVirtual(host)) return [];
  const dimms = factValue(host.memory.dimms);
  if (dimms === undefined) return [unjudged(id, reasonOf(host.memory.dimms) ?? "")];
  const sizes = new Set(dimms.map((dimm) => dimm.sizeBytes));
  const perSocket = new Map<string, number>();
  for (const dimm of dimms) {
    const socket = socketOf(dimm);
    if (socket === undefined)
      return [unjudged(id, `the name ${JSON.stringify(dimm.locator)} does not tell the socket`)];
    perSocket.set(socket, (perSocket.get(socket) ?? 0) + dimm.sizeBytes);
  }
  const evidence = [...perSocket].map(([socket, bytes]) => `${socket}: ${bytes / 1024 ** 3} GiB`).join(", ");
  const action = "plug the same modules into the same slots of every socket, one a channel first";
  if (new Set(perSocket.values()).size > 1)
    return [bad(id, "warning", { reason: "the sockets have different amounts of memory", action, evidence })];
  if (sizes.size > 1)
    return [
      bad(id, "info", {
        reason: "modules of different sizes are mixed, so part of the memory runs on fewer channels",
        action,
        evidence: [...sizes].map((bytes) => `${bytes / 1024 ** 3} GiB`).join(", "),
      }),
    ];
  const sockets = factValue(host.cpu.sockets);
  if (sockets !== undefined && perSocket.size > 0 && perSocket.size < sockets)
    return [
      bad(id, "warning", {
        reason: "a socket has no memory of its own",
        action,
        evidence: `${evidence}; ${sockets} sockets`,
      }),
    ];
  return dimms.length === 0 ? [unjudged(id, "no module is listed")] : [good(id, evidence)];
}

/** "A1" (Dell: letter is the socket), "P1-DIMMA1", "PROC 1 DIMM 3", "CPU0_DIMM_A1", "P0_Node0_Channel0". */
function socketOf({ locator, bank }: Dimm): string | undefined {
  const letter = /^([A-H])\d{1,2}$/.exec(locator)?.[1];
  if (letter) return letter;
  const named = /\b(?:CPU|PROC(?:ESSOR)?|P)[ _-]?(\d)(?=[ _-]|$)/i;
  const number = named.exec(locator)?.[1] ?? named.exec(bank)?.[1];
  return number === undefined ? undefined : `socket ${number}`;
}
