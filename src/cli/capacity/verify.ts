/** `escapement capacity verify`: forecast, load the real schema, measure, compare. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { defineCommand } from "../command.ts";
import { paint, print, printJson, say, table } from "../terminal.ts";
import { numberOption, serverOption, wholeOption } from "./options.ts";
import type { VerifyReport } from "./verify/report.ts";

interface VerifyOptions {
  readonly url?: string;
  readonly seed?: string;
  readonly scale: string;
  readonly only?: string;
  readonly full?: boolean;
  readonly forecast?: string;
  readonly commits?: boolean;
  readonly json?: boolean;
}

/** The long run. */
const fullScale = 10;

export function buildVerify(): Command {
  return defineCommand("verify", "compare the storage forecast with a real PostgreSQL", {
    examples: [
      "escapement capacity verify",
      "escapement capacity verify --full --seed 7 --json",
      "escapement capacity verify --only lifecycle --forecast forecast.json",
    ],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unavailable],
    notes:
      "Starts a PostgreSQL of its own (or takes --url, where it makes and drops a database), reads the real schema,\nwrites the forecast to a file, loads about a million rows through the record store's own functions, and measures.\nEnds with 1 when table or index are off by more than 3 %, or the log by more than 15 %.",
  })
    .option("--url <url>", "a server to use; its user must be allowed to create databases")
    .option("--seed <number>", "seed of the two random loads (default: drawn, and printed)")
    .option("--scale <number>", "1 loads about a million rows", "1")
    .option("--full", `the long run: --scale ${fullScale}`)
    .option("--only <text>", "only loads whose name contains this")
    .option("--forecast <file>", "write the forecast here (default: a new file in the temporary folder)")
    .option("--no-commits", "leave out the measurement of commits a flush")
    .option("--json", "print one JSON document")
    .action(async (options: VerifyOptions) => {
      const { verifyStorage } = await import("./verify/run.ts");
      const report = await verifyStorage({
        url: options.url === undefined ? undefined : serverOption("--url", options.url),
        seed:
          options.seed === undefined
            ? Math.floor(Math.random() * 1_000_000)
            : wholeOption("--seed", options.seed),
        scale: options.full ? fullScale : numberOption("--scale", options.scale),
        only: options.only,
        forecastFile: options.forecast,
        commits: options.commits !== false,
        say,
      });
      if (options.json) printJson({ ...report });
      else printReport(report);
      if (!report.passed) process.exitCode = ExitCode.failed;
    });
}

function printReport(report: VerifyReport): void {
  print(
    `PostgreSQL ${report.server}, seed ${report.seed}, ${report.rows.toLocaleString("en-US")} rows loaded after the forecast was written to ${report.forecastFile}`,
  );
  print();
  const bytes = (value: number) => value.toFixed(1);
  const error = (value: number, limit: number) => {
    const text = `${value >= 0 ? "+" : ""}${(value * 100).toFixed(1)} %`;
    return Math.abs(value) > limit ? paint.red(text) : paint.green(text);
  };
  print(
    table(
      [
        "load",
        "rows",
        "table B/shard",
        "measured",
        "error",
        "index B/shard",
        "measured",
        "error",
        "log B/shard",
        "measured",
        "error",
      ],
      report.loads.map((load) => [
        load.name,
        load.rows.toLocaleString("en-US"),
        ...(["heap", "index", "wal"] as const).flatMap((what) => [
          bytes(load.forecast[what]),
          bytes(load.measured[what]),
          error(load.error[what], report.limits[what]),
        ]),
      ]),
    ),
  );
  if (report.commits.length > 0) {
    print();
    print(
      table(
        ["sessions", "commits/s", "flushes/s", "commits a flush", "model"],
        report.commits.map((one) => [
          String(one.sessions),
          one.commitsPerSecond.toFixed(0),
          one.flushesPerSecond.toFixed(0),
          one.commitsPerFlush.toFixed(1),
          one.model.toFixed(1),
        ]),
      ),
    );
  }
  print();
  print(
    report.passed
      ? paint.green(
          `ok: within ${report.limits.heap * 100} % for table and index, ${report.limits.wal * 100} % for the log`,
        )
      : paint.red("not ok: a forecast is off by more than it may be"),
  );
}
