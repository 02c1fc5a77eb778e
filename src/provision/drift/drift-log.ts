/** What was seen of hosts, one JSON line a look, each with the sum of the one before: a line taken out shows. */
import { createHash } from "node:crypto";
import { appendFile, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { makeFolder } from "../../base/make-folder.ts";
import { canonicalJson } from "../../spec/digest.ts";
import type { Deviation } from "./verdict.ts";

export interface DriftEntry {
  /** RFC 3339, by this machine's clock. */
  readonly at: string;
  readonly host: string;
  readonly answer: "yes" | "no" | "unknown";
  readonly deviations: readonly Deviation[];
}

const start = "0".repeat(64);

export class DriftLog {
  readonly #file: string;
  #last = start;
  readonly #seen = new Map<string, string>();

  private constructor(file: string) {
    this.#file = file;
  }

  /** @throws E_BAD_DATA where a line does not follow the one before it */
  static async open(file: string): Promise<DriftLog> {
    const log = new DriftLog(file);
    let text = "";
    try {
      text = await readFile(file, "utf8");
    } catch (error) {
      if ((error as { code?: string }).code !== "ENOENT")
        throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) });
    }
    // A line without an end was cut short while it was written; it counts for nothing, but says so.
    const lines = text.split("\n");
    if (lines.pop() !== "") throw broken(file, lines.length + 1, "is cut short");
    for (const [i, line] of lines.entries()) log.#follow(line, i + 1);
    return log;
  }

  /**
   * @returns true where the host is not as it was at the look before, or was never looked at
   * @throws E_UNAVAILABLE where it cannot be written
   */
  async append(entry: DriftEntry): Promise<boolean> {
    const body = { ...entry, previous: this.#last };
    const hash = sum(body);
    try {
      makeFolder(dirname(this.#file));
      await appendFile(this.#file, `${JSON.stringify({ ...body, hash })}\n`, { mode: 0o600 });
    } catch (error) {
      const what = `${this.#file} cannot be written: ${messageOf(error)}`;
      throw new EscapementError("E_UNAVAILABLE", { what, hint: "name a place with --log" }, { cause: error });
    }
    this.#last = hash;
    return this.#note(entry);
  }

  #follow(line: string, number: number): void {
    let parsed: { hash?: unknown; previous?: unknown } & Partial<DriftEntry>;
    try {
      parsed = JSON.parse(line);
    } catch {
      throw broken(this.#file, number, "is no JSON");
    }
    const { hash, ...body } = parsed;
    if (body.previous !== this.#last) throw broken(this.#file, number, "does not follow the line before it");
    if (hash !== sum(body)) throw broken(this.#file, number, "was changed");
    this.#last = hash as string;
    if (body.host !== undefined) this.#note(body as DriftEntry);
  }

  #note({ host, answer, deviations }: DriftEntry): boolean {
    const now = canonicalJson({ answer, deviations });
    const before = this.#seen.get(host);
    this.#seen.set(host, now);
    return now !== before;
  }
}

function sum(body: unknown): string {
  return createHash("sha256").update(canonicalJson(body)).digest("hex");
}

function broken(file: string, line: number, what: string): EscapementError {
  return new EscapementError("E_BAD_DATA", {
    what: `${file}:${line} ${what}`,
    hint: "keep the file as evidence and begin another with --log",
  });
}
