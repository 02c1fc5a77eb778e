/**
 * The watchman's own copy of the definitions' digests. Definitions change by
 * being applied, which makes a new version; the same version with another
 * digest, or a version that is gone, was changed behind everybody's back.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import type { TamperedDefinition } from "./picture.ts";

const content = z.object({ digests: z.array(z.tuple([z.number(), z.number(), z.string()])) });

interface Entry {
  readonly version: number;
  readonly digest: string;
}

export class DigestBook {
  readonly #file: string | null;
  readonly #entries: Map<number, Entry>;

  /** @param file where the copy outlives the process; null: in memory alone. A file that cannot be read counts as none. */
  constructor(file: string | null) {
    this.#file = file;
    this.#entries = file ? load(file) : new Map();
  }

  /** Compares, and learns what is new. A changed digest is reported until the records are right again. */
  compare(rows: readonly { jobId: number; version: number; digest: string }[]): TamperedDefinition[] {
    const tampered: TamperedDefinition[] = [];
    let learned = false;
    for (const { jobId, version, digest } of rows) {
      const known = this.#entries.get(jobId);
      if (known && version <= known.version) {
        if (version < known.version)
          tampered.push({ jobId, version: known.version, was: known.digest, is: null });
        else if (digest !== known.digest) tampered.push({ jobId, version, was: known.digest, is: digest });
        continue;
      }
      this.#entries.set(jobId, { version, digest });
      learned = true;
    }
    if (learned) this.#save();
    return tampered;
  }

  #save(): void {
    if (!this.#file) return;
    const digests = [...this.#entries].map(([jobId, { version, digest }]) => [jobId, version, digest]);
    mkdirSync(dirname(this.#file), { recursive: true });
    // Renamed into place: a copy that is cut short would forget everything.
    writeFileSync(`${this.#file}.new`, JSON.stringify({ digests }), { mode: 0o600 });
    renameSync(`${this.#file}.new`, this.#file);
  }
}

function load(file: string): Map<number, Entry> {
  try {
    const { digests } = content.parse(JSON.parse(readFileSync(file, "utf8")));
    return new Map(digests.map(([jobId, version, digest]) => [jobId, { version, digest }]));
  } catch {
    return new Map();
  }
}
