/** A report of the checklist in a file. It is somebody else's: one that is not there yet, or half written, is read next time. */
import { readFile } from "node:fs/promises";
import { messageOf } from "../../base/errors.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import type { Session } from "../session.ts";
import type { ReportLook } from "./checklist-items.ts";
import { reportOf } from "./checklist-items.ts";

export class ReportFile {
  readonly #file: string | null;
  readonly #session: Session;
  /** What is wrong with it is said once, at the first look. */
  #looked = false;

  constructor(file: string | null, session: Session) {
    this.#file = file;
    this.#session = session;
  }

  async read(): Promise<ReportLook | null> {
    if (this.#file === null) return null;
    const read = await readFile(this.#file, "utf8").catch((error: unknown) => ({ error }));
    const report = typeof read === "string" ? reportOf(read) : null;
    if (!report && !this.#looked) {
      const why = typeof read === "string" ? "is no report of the checklist" : messageOf(read.error);
      this.#session.send({
        type: "notice",
        text: `--report ${this.#file}: ${why}; it is read again every few seconds`,
        tone: "bad",
        nowMs: monotonicMs(),
      });
    }
    this.#looked = true;
    return report;
  }
}
