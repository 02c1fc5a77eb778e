/** What the host's program prints, parsed once. Anything it does not print so is an error, never a guess. */
import { z } from "zod";
import { EscapementError } from "../../base/errors.ts";
import type {
  DrillEvent,
  DrillProgress,
  DrillRunState,
  FaultKind,
  HostLook,
  PeerAnswer,
  Residue,
  ResidueAudit,
} from "./drill-host.ts";

const event: z.ZodType<DrillEvent> = z.object({
  seq: z.int().min(1),
  event: z.enum(["armed", "injected", "holding", "proof", "abort", "restored", "audit", "ended", "refused"]),
  wallMs: z.int(),
  bootMs: z.int().min(0),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
});

const states: readonly DrillRunState[] = ["none", "running", "restoring", "ended", "lost"];
const faults: readonly FaultKind[] = [
  "kill",
  "stop",
  "pause",
  "cut",
  "clock",
  "power",
  "fill-disk",
  "memory-limit",
];

function unreadable(host: string, line: string): EscapementError {
  return new EscapementError("E_BAD_DATA", {
    what: `${host} answered a drill with ${JSON.stringify(line.slice(0, 200))}`,
    hint: "the program of the host and this one must be of the same version: escapement apply",
  });
}

function linesOf(text: string): string[] {
  return text.split("\n").filter((line) => line !== "");
}

/** @param afterSeq the last event that is known. @throws E_BAD_DATA */
export function readProgress(host: string, text: string, afterSeq: number): DrillProgress {
  const [first = "", ...rest] = linesOf(text);
  const state = states.find((one) => first === `state ${one}`);
  if (state === undefined) throw unreadable(host, first);
  const events: DrillEvent[] = [];
  for (const [i, line] of rest.entries()) {
    const one = readEvent(line);
    // The last line may have been read while it was being written.
    if (one === undefined && i === rest.length - 1 && !text.endsWith("\n")) break;
    if (one === undefined || one.seq !== afterSeq + events.length + 1) throw unreadable(host, line);
    events.push(one);
  }
  return { state, events };
}

/** One line of a host's record; undefined for anything else. */
export function readEvent(line: string): DrillEvent | undefined {
  try {
    return event.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}

/** The host's two clocks at one moment. @throws E_BAD_DATA */
export function readTime(host: string, text: string): { readonly wallMs: number; readonly bootMs: number } {
  const [, wallMs, bootMs] = /^now (-?\d+) (\d+)\n/.exec(text) ?? [];
  if (wallMs === undefined) throw unreadable(host, text);
  return { wallMs: Number(wallMs), bootMs: Number(bootMs) };
}

/** @throws E_BAD_DATA */
export function readLook(host: string, text: string): Omit<HostLook, "uncertaintyMs"> {
  const { wallMs, bootMs } = readTime(host, text);
  const addresses: string[] = [];
  const units: Record<string, HostLook["units"][string]> = {};
  const freeBytes: Record<string, number> = {};
  const can: Partial<Record<FaultKind, true | string>> = {};
  let bootId: string | undefined;
  let running: string | undefined;
  let trouble: string | undefined;
  let timeDaemon: HostLook["timeDaemon"];
  const count = (word = "") => {
    if (!/^\d+$/.test(word)) throw unreadable(host, word);
    return Number(word);
  };
  for (const line of linesOf(text).slice(1)) {
    const words = line.split(" ");
    const [kind = "", first = "", ...rest] = words;
    if (kind === "bootId") bootId = first;
    else if (kind === "address") addresses.push(first);
    else if (kind === "running") running = first;
    else if (kind === "trouble") trouble ??= words.slice(1).join(" ");
    else if (kind === "unit") {
      const [active = "", mainPid, processState = "", restarts] = rest;
      units[first] = { active, mainPid: count(mainPid), processState, restarts: count(restarts) };
    } else if (kind === "free") freeBytes[rest.join(" ")] = count(first);
    else if (kind === "timeDaemon") {
      const synchronised = rest[1] === "true" ? true : rest[1] === "false" ? false : undefined;
      timeDaemon = { name: first, running: rest[0] === "true", synchronised };
    } else if (kind === "can") {
      const fault = faults.find((one) => one === first);
      if (fault) can[fault] = rest.join(" ") === "true" || rest.join(" ");
    }
    // A newer program may say more.
  }
  if (bootId === undefined) throw unreadable(host, text);
  const look = { bootId, wallMs, bootMs, addresses, units, timeDaemon, freeBytes, can, running };
  return trouble === undefined ? look : { ...look, trouble };
}

/** Whether one peer answers it. @throws E_BAD_DATA, also for a program that does not know the question */
export function readReach(host: string, text: string): PeerAnswer {
  const [, answer] = /^reach \S+ (answers|silent|unknown)\n$/.exec(text) ?? [];
  if (answer === undefined) throw unreadable(host, linesOf(text)[0] ?? "");
  return answer as PeerAnswer;
}

/** @throws E_BAD_DATA where the host did not come to the end of its audit */
export function readAudit(host: string, text: string): ResidueAudit {
  const lines = linesOf(text);
  if (lines.at(-1) !== "done") throw unreadable(host, lines.at(-1) ?? "");
  const residue: Residue[] = [];
  const unseen: string[] = [];
  for (const line of lines.slice(0, -1)) {
    const [kind, what = "", ...rest] = line.split(" ");
    if (kind === "residue") residue.push({ what, detail: rest.join(" ") });
    else if (kind === "unseen") unseen.push([what, ...rest].join(" "));
    else throw unreadable(host, line);
  }
  return { residue, unseen };
}

/** @throws E_BAD_DATA */
export function readHalt(
  host: string,
  text: string,
): { readonly halted: boolean; readonly restoredMs: number } {
  const [, halted, restoredMs] = /^halted (true|false) (\d+)\n/.exec(text) ?? [];
  if (halted === undefined) throw unreadable(host, text);
  return { halted: halted === "true", restoredMs: Number(restoredMs) };
}
