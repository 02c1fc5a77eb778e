/** `escapement diagnose duplicates`: the keys that a job's table holds more than once, and the surplus. */

import type { Command } from "commander";
import { EscapementError, messageOf } from "../../base/errors.ts";
import { ExitCode } from "../../base/exit-code.ts";
import type { Cell } from "../../report/csv.ts";
import type {
  DuplicateKey,
  DuplicateQuestion,
  DuplicateSummary,
} from "../../store/diagnose/duplicate-rows.ts";
import type { WrittenBy } from "../../store/diagnose/written-by.ts";
import { defineCommand } from "../command.ts";
import { countOption } from "../parse-option.ts";
import { paint, print, printJson, say, table } from "../terminal.ts";

interface DuplicatesOptions {
  readonly url?: string;
  readonly table: string;
  readonly key: readonly string[];
  readonly amount: string;
  readonly records?: string;
  readonly output?: string;
  readonly limit: number;
  readonly json?: boolean;
}

export function buildDuplicates(): Command {
  return defineCommand("duplicates", "keys that a table holds more than once, with the surplus", {
    examples: [
      "escapement diagnose duplicates --url postgres://reader@db/payroll --table payout --key user_id,period --amount amount",
      "escapement diagnose duplicates --url postgres://reader@db/payroll --table pay.payout --key user_id --amount cents -o double.csv",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unavailable],
    notes:
      "Reads in one read-only transaction. Surplus: the total of a key without the largest of its amounts. Exit 1 when\nthere is a duplicate. Rows with an empty key column are left out.",
  })
    .option("--url <url>", "database the job writes to (default: ESCAPEMENT_GUARD_URL)")
    .requiredOption("--table <table>", "table, or schema.table")
    .requiredOption(
      "--key <columns>",
      "columns that together may occur once, with commas between",
      columnList,
    )
    .requiredOption("--amount <column>", "column with the amount")
    .option("--records <url>", "record store: tell which executions the execution ids belong to")
    .option("-o, --output <file>", "write all of them as CSV")
    .option("--limit <n>", "how many are shown, or part of the JSON document", countOption(1, 100_000), 50)
    .option("--json", "print one JSON document")
    .action(run);
}

function columnList(text: string): string[] {
  return text
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

async function run(_: DuplicatesOptions, command: Command): Promise<void> {
  // The command above has --url and --json, too, and takes the values that are meant for this one.
  const options = command.optsWithGlobals<DuplicatesOptions>();
  const url = options.url ?? process.env.ESCAPEMENT_GUARD_URL;
  if (!url) throw new EscapementError("E_USAGE", { what: "no database is named: pass --url URL" });
  if (options.key.length === 0) throw new EscapementError("E_USAGE", { what: "--key names no column" });
  const { Database } = await import("../../store/database.ts");
  const { readDuplicates } = await import("../../store/diagnose/duplicate-rows.ts");
  const db = new Database(url, {
    maxConnections: 1,
    applicationName: "escapement diagnose",
    queryTimeoutMs: 30 * 60_000,
  });
  const file = options.output === undefined ? undefined : await openCsv(options.output, options);
  const shown: DuplicateKey[] = [];
  try {
    const summary = await readDuplicates(db, options as DuplicateQuestion, (keys) => {
      shown.push(...keys.slice(0, options.limit - shown.length));
      file?.write(keys);
      return file !== undefined || shown.length < options.limit;
    });
    const writtenBy = await findWriters(options.records, shown);
    if (summary.keys > 0) process.exitCode = ExitCode.failed;
    if (options.json)
      printJson({ ...summary, duplicates: shown, executions: writtenBy, file: options.output ?? null });
    else printSummary(options, summary, shown, writtenBy);
  } finally {
    await file?.close();
    await db.end();
  }
}

/** A page is written when it is read, so that the list may be longer than memory. */
async function openCsv(path: string, { key }: DuplicatesOptions) {
  const { closeSync, openSync, writeFileSync } = await import("node:fs");
  const { csvText } = await import("../../report/csv.ts");
  let handle: number;
  try {
    handle = openSync(path, "w", 0o600);
  } catch (error) {
    throw new EscapementError(
      "E_BAD_VALUE",
      { option: "--output", value: path, expected: "a file that can be written", hint: messageOf(error) },
      { cause: error },
    );
  }
  const write = (rows: readonly (readonly Cell[])[]): void => {
    try {
      writeFileSync(handle, csvText(rows));
    } catch (error) {
      throw new EscapementError(
        "E_UNAVAILABLE",
        { what: `cannot write ${path}: ${messageOf(error)}`, hint: "what is in the file is not all of it" },
        { cause: error },
      );
    }
  };
  write([[...key, "times", "total", "surplus", "amounts_differ", "written_by"]]);
  return {
    write: (keys: readonly DuplicateKey[]) => {
      if (keys.length > 0) write(keys.map(cells));
    },
    close: () => closeSync(handle),
  };
}

function cells(one: DuplicateKey): Cell[] {
  return [
    ...one.key,
    one.times,
    { decimal: one.total },
    { decimal: one.surplus },
    one.amountsDiffer ? "yes" : "no",
    writersText(one),
  ];
}

function writersText({ writers }: DuplicateKey): string {
  return Object.entries(writers)
    .filter(([, values]) => values.length > 0)
    .map(([name, values]) => `${name} ${values.join(" | ")}`)
    .join("; ");
}

async function findWriters(
  records: string | undefined,
  shown: readonly DuplicateKey[],
): Promise<WrittenBy[]> {
  if (records === undefined) return [];
  const { withStore } = await import("../store-url.ts");
  const { findExecutionsById } = await import("../../store/diagnose/written-by.ts");
  const ids = new Set(shown.flatMap(({ writers }) => writers.execution_id ?? []));
  return withStore({ url: records }, (store) => findExecutionsById(store, [...ids]));
}

function printSummary(
  { key, output, table: name }: DuplicatesOptions,
  { keys, surplusRows, surplus, writerColumns, inexact, notFinite }: DuplicateSummary,
  shown: readonly DuplicateKey[],
  writtenBy: readonly WrittenBy[],
): void {
  if (keys === 0) {
    print(`${name} holds no key twice`);
    return;
  }
  print(
    table(
      [...key, "times", "total", "surplus", "", "written by"],
      shown.map((one) => [
        // A key is data: it begins no line of its own here.
        ...one.key.map((part) => part.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")),
        String(one.times),
        one.total,
        one.surplus,
        one.amountsDiffer ? paint.yellow("amounts differ") : "",
        writersText(one) || "-",
      ]),
    ),
  );
  if (keys > shown.length) print(`… and ${keys - shown.length} more`);
  print(`${keys} key(s) more than once, ${surplusRows} row(s) too many, surplus ${paint.bold(surplus)}`);
  for (const { executionId, job, fireTime, trigger, status } of writtenBy)
    print(`  ${executionId}  ${job} at ${fireTime.toISOString()}, ${trigger}, ${status}`);
  if (output !== undefined) say(`all of them are in ${output}`);
  if (writerColumns.length === 0)
    say("the table has no column that tells who wrote a row, such as execution_id");
  if (notFinite > 0) say(`${notFinite} row(s) have an amount that is no number: no sum has them`);
  if (inexact) say("the amount is a floating-point number: its sums are not exact");
}
