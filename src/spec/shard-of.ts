/** Which shard a business key belongs to: the same function in SQL (`escapement.shard_of`), here and on the command line. */
import { createHash } from "node:crypto";

/**
 * The first eight hex digits of the MD5 of the key's UTF-8 bytes, as a number,
 * modulo `count`. MD5 because every language and database has it; nothing here is secret.
 */
export function shardOf(key: string, count: number): number {
  return createHash("md5").update(key, "utf8").digest().readUInt32BE(0) % count;
}
