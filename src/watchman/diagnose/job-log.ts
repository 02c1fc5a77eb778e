/** What attempts said before they ended, out of a job's log as the executor's host keeps it (docs/executor.md). */

export interface LastWords {
  readonly fireTime: Date;
  readonly shardNo: number;
  readonly attempt: number;
  /** The last lines of its standard error, oldest first. */
  readonly lines: readonly string[];
}

const line = /^\S+ (\S+) shard=(-?\d+) attempt=(\d+) err \| (.*)$/;
/** Reasons stand at the end. */
const keptLines = 20;
const longestLine = 300;

/** Lines of another shape are left out: a file may begin in the middle. */
export function parseLastWords(text: string): LastWords[] {
  const found = new Map<string, { fireTime: Date; shardNo: number; attempt: number; lines: string[] }>();
  for (const one of text.split("\n")) {
    const [, fire, shard, attempt, said] = line.exec(one) ?? [];
    const fireTime = new Date(fire ?? "");
    if (said === undefined || Number.isNaN(fireTime.getTime())) continue;
    const key = `${fire} ${shard} ${attempt}`;
    const words = found.get(key) ?? { fireTime, shardNo: Number(shard), attempt: Number(attempt), lines: [] };
    found.set(key, words);
    words.lines.push(said.slice(0, longestLine));
    if (words.lines.length > keptLines) words.lines.shift();
  }
  return [...found.values()];
}
