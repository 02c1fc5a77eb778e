/** Kills for want of memory, out of a host's kernel messages as `journalctl -k -o json` prints them. */
import { z } from "zod";

export interface MemoryKill {
  readonly at: Date;
  readonly host: string;
  readonly message: string;
}

const entryShape = z.looseObject({
  __REALTIME_TIMESTAMP: z.string().regex(/^\d+$/),
  _HOSTNAME: z.string().default(""),
  MESSAGE: z.string(),
});

/** The kernel's own words, for the whole machine and for one control group. */
const killed = /^(Memory cgroup out of memory|Out of memory)\b.*\bKilled process \d+|^oom-kill:/;

/** Lines that are no entry of the journal are left out: the file may begin or end in the middle. */
export function parseKills(text: string): MemoryKill[] {
  return text.split("\n").flatMap((line) => {
    const entry = entryShape.safeParse(parseLine(line));
    if (!entry.success || !killed.test(entry.data.MESSAGE)) return [];
    const at = new Date(Number(BigInt(entry.data.__REALTIME_TIMESTAMP) / 1000n));
    return [{ at, host: entry.data._HOSTNAME, message: entry.data.MESSAGE }];
  });
}

/** Whether there is an entry of a journal at all: where there is none, that no kill was found says nothing. */
export function hasEntries(text: string): boolean {
  return text.split("\n").some((line) => entryShape.safeParse(parseLine(line)).success);
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
