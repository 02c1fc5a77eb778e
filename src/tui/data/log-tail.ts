/** The end of a shard's log, where this machine has the folder of logs: a shared one, or the executor's own. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { LogTail } from "./picture.ts";

export interface ShardOfLog {
  readonly node: string | null;
  readonly namespace: string;
  readonly job: string;
  readonly fireTime: Date;
  readonly shardNo: number;
  readonly attempt: number;
}

/** Read from the end of the file, at most. */
const tailBytes = 256 * 1_024;
const mostLines = 50;

/** @param directory of the cluster file's `logs`; null: no cluster file was given */
export async function tailOfShard(directory: string | null, shard: ShardOfLog): Promise<LogTail> {
  if (shard.node === null) return { lines: [], from: "no executor has had it yet" };
  if (directory === null)
    return {
      lines: [],
      from: `on the host of ${shard.node}; with --cluster FILE it is read where this machine has it`,
    };
  const file = join(directory, shard.node, shard.namespace, `${shard.job}.log`);
  try {
    const text = await readTail(file);
    const label = ` ${shard.fireTime.toISOString()} shard=${shard.shardNo} attempt=`;
    const lines = text.split("\n").filter((one) => one.includes(label));
    return {
      lines: lines.slice(-mostLines).map((one) => withoutLabel(one, label)),
      from: lines.length > 0 ? file : `${file} says nothing of it`,
    };
  } catch {
    return { lines: [], from: `${file} on the host of ${shard.node}; this machine does not have it` };
  }
}

async function readTail(file: string): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - tailBytes);
    const buffer = Buffer.alloc(size - start);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** `02:00:01 attempt 1 out: text` is enough: the rest is in the title. */
function withoutLabel(text: string, label: string): string {
  const at = text.indexOf(label);
  const when = text
    .slice(0, at)
    .trim()
    .replace(/^.*T(\d{2}:\d{2}:\d{2}).*$/, "$1");
  return `${when} #${text.slice(at + label.length)}`;
}
