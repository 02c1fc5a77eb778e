/**
 * Facts of hosts as they were gathered last. What a machine is made of does
 * not change while it runs, and asking all of it takes seconds; so facts serve
 * again for an hour, but never beyond a boot of the host.
 */
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { makeFolder } from "../../base/make-folder.ts";
import type { HostFacts } from "../../hardware/host-facts.ts";
import { digest } from "../../spec/digest.ts";
import { pruneFolder } from "./prune-folder.ts";

export interface FactCache {
  /** Undefined where there are none, or they are too old. */
  get(host: string): Promise<HostFacts | undefined>;
  put(host: string, facts: HostFacts): Promise<void>;
}

const cachedSchema = z.object({
  version: z.string(),
  at: z.number(),
  facts: z.record(z.string(), z.unknown()),
});

/** Beyond as many hosts, facts that nobody will use again go; about 20 KB each. */
const filesKept = 1_000;
const oldMs = 86_400_000;

/** @param scope what tells one host of a name from another: the inventory's file. @param maxAgeMs by this machine's clock */
export function factCache(folder: string, scope: string, maxAgeMs: number): FactCache {
  const version = process.env.ESCAPEMENT_VERSION ?? "0.0.0";
  let pruned: Promise<number> | undefined;
  const fileOf = (host: string) => join(folder, `${digest([scope, host]).slice(0, 32)}.json`);
  return {
    async get(host) {
      try {
        const cached = cachedSchema.parse(JSON.parse(await readFile(fileOf(host), "utf8")));
        const ageMs = Date.now() - cached.at;
        // Facts from the future are from another clock: not to be trusted either.
        if (cached.version !== version || ageMs < 0 || ageMs > maxAgeMs) return undefined;
        return cached.facts as unknown as HostFacts;
      } catch {
        return undefined;
      }
    },
    async put(host, facts) {
      const file = fileOf(host);
      const temporary = `${file}.${process.pid}`;
      try {
        makeFolder(folder, 0o700);
        await writeFile(temporary, JSON.stringify({ version, at: Date.now(), facts }), { mode: 0o600 });
        await rename(temporary, file);
        pruned ??= pruneFolder(folder, filesKept, oldMs);
        await pruned;
      } catch {
        // Without a cache the host is asked again: slower, and right.
      }
    },
  };
}
