/** The hash that shares keys out, fast enough for ten million of them. */
import { hash } from "node:crypto";

/** The first eight hex digits of the key's MD5 as a number; modulo a shard count it is what `shardOf` answers. */
export function keyHash(key: string): number {
  return Number.parseInt(hash("md5", key, "hex").slice(0, 8), 16);
}
