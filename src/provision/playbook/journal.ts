/**
 * What a run has done, on the controller's disk: one JSON object a line, each
 * made durable before the run goes on. A run that was cut short is taken up
 * from here; a line that was cut short was never said.
 */
import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { makeFolder } from "../../base/make-folder.ts";

const outcome = z.enum(["done", "skipped", "failed", "interrupted"]);
const base = { at: z.string(), run: z.string() };
const unit = { ...base, step: z.string(), host: z.string() };

const entrySchema = z.discriminatedUnion("event", [
  z.object({
    ...base,
    event: z.literal("begin"),
    playbook: z.string(),
    digest: z.string(),
    targets: z.array(z.string()),
    /** Of the names and addresses of all hosts: the settled units are about these machines. */
    inventory: z.string().optional(),
  }),
  /** The action is about to be done. */
  z.object({ ...unit, event: z.literal("act") }),
  z.object({ ...unit, event: z.literal("end"), outcome, because: z.string() }),
  z.object({ ...unit, event: z.literal("undone") }),
  z.object({
    ...base,
    event: z.literal("finish"),
    outcome: z.enum(["done", "failed", "interrupted", "undone"]),
  }),
]);

export type JournalEntry = z.output<typeof entrySchema>;
type WithoutTime<T> = T extends unknown ? Omit<T, "at"> : never;
export type NewEntry = WithoutTime<JournalEntry>;

export class Journal {
  readonly file: string;
  readonly #now: () => Date;
  #entries: JournalEntry[];
  #handle: number | undefined;

  /** Reads what is there. @throws E_BAD_DATA for a line in the middle that is not ours, E_FILE_UNREADABLE */
  constructor(file: string, now: () => Date = () => new Date()) {
    this.file = file;
    this.#now = now;
    this.#entries = existsSync(file) ? parse(file, textOf(file)) : [];
  }

  get entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  /** Durable when it returns. @throws E_UNAVAILABLE when the disk does not take it */
  append(entry: NewEntry): void {
    const whole = { at: this.#now().toISOString(), ...entry } as JournalEntry;
    try {
      this.#handle ??= this.#open();
      writeSync(this.#handle, `${JSON.stringify(whole)}\n`);
      fsyncSync(this.#handle);
    } catch (error) {
      throw new EscapementError(
        "E_UNAVAILABLE",
        {
          what: `the journal ${this.file} cannot be written: ${messageOf(error)}`,
          hint: "without it an interrupted run could not be taken up; nothing more was done",
        },
        { cause: error },
      );
    }
    this.#entries.push(whole);
  }

  close(): void {
    if (this.#handle !== undefined) closeSync(this.#handle);
    this.#handle = undefined;
  }

  #open(): number {
    makeFolder(dirname(this.file), 0o700);
    const handle = openSync(this.file, "a", 0o600);
    const text = readFileSync(this.file, "utf8");
    // Cut off what was not written to its end, else the next line would be glued to it.
    if (text !== "" && !text.endsWith("\n"))
      ftruncateSync(handle, Buffer.byteLength(text.slice(0, text.lastIndexOf("\n") + 1)));
    const folder = openSync(dirname(this.file), "r");
    fsyncSync(folder);
    closeSync(folder);
    return handle;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) }, { cause: error });
  }
}

function parse(file: string, text: string): JournalEntry[] {
  const lines = text.split("\n");
  // What stands after the last line's end was cut short.
  lines.pop();
  return lines.map((line, i) => {
    try {
      return entrySchema.parse(JSON.parse(line));
    } catch (error) {
      throw new EscapementError(
        "E_BAD_DATA",
        {
          what: `${file}:${i + 1} is not an entry of a playbook's journal`,
          hint: "move the file away to begin anew; guards find what is done already",
        },
        { cause: error },
      );
    }
  });
}
