/** `escapement alerts list`: open alerts, who was told, and which silences are in force. */
import type { Command } from "commander";
import { ExitCode } from "../../base/exit-code.ts";
import { formatInstant } from "../../base/instant.ts";
import type { BookRow } from "../../store/watch/alert-book.ts";
import { defineCommand } from "../command.ts";
import { countOption } from "../parse-option.ts";
import { type StoreOptions, withStore, withStoreOptions } from "../store-url.ts";
import { paint, print, printJson, table } from "../terminal.ts";

interface ListOptions extends StoreOptions {
  readonly all?: boolean;
  readonly limit?: number;
  readonly json?: boolean;
}

export function buildList(): Command {
  const command = defineCommand("list", "show open alerts, who was told of them, and silences", {
    examples: ["escapement alerts list --cluster cluster.yaml", "escapement alerts list --all --json"],
    exitCodes: [ExitCode.ok, ExitCode.failed, ExitCode.unavailable],
    notes: "Exit 1 when a critical alert is open that nobody has acknowledged.",
  })
    .option("--all", "the ended ones, too")
    .option("--limit <n>", "how many at most (default: 200)", countOption(1, 10_000))
    .option("--json", "print one JSON document");
  return withStoreOptions(command).action(async (options: ListOptions) => {
    const { listBook } = await import("../../store/watch/alert-book.ts");
    const { channelHealth } = await import("../../store/watch/outbox.ts");
    const { activeSilences } = await import("../../store/watch/silence.ts");
    const { readStoreTime } = await import("../../store/store-time.ts");
    const { describeMatch } = await import("../../spec/alert-match.ts");
    await withStore(options, async (db) => {
      const now = await readStoreTime(db);
      const { all, limit } = options;
      const alerts = await listBook(db, { ...(all && { all }), ...(limit !== undefined && { limit }) });
      const silences = await activeSilences(db);
      const channels = await channelHealth(db, now);
      const urgent = alerts.some((one) => one.severity === "critical" && stateOf(one) === "open");
      if (urgent) process.exitCode = ExitCode.failed;
      if (options.json) return printJson({ now, alerts, silences, channels });
      if (alerts.length === 0) print("no open alerts");
      else
        print(
          table(
            ["since", "severity", "state", "key", "told", "message"],
            alerts.map((one) => [
              formatInstant(one.opened ?? one.firstSeen),
              severityWord(one),
              stateOf(one),
              one.key,
              one.channels.join(",") || "-",
              one.message,
            ]),
          ),
        );
      if (silences.length > 0) {
        print();
        const lines = silences.map((one) => [
          String(one.silenceId),
          formatInstant(one.until),
          one.by,
          describeMatch(one.match),
          one.reason,
        ]);
        print(table(["silence", "until", "by", "what", "reason"], lines));
      }
      const waiting = channels.filter(({ pending, failed }) => pending + failed > 0);
      if (waiting.length > 0) {
        print();
        const lines = waiting.map((one) => [
          one.channel,
          String(one.pending),
          String(one.failed),
          one.oldestAt ? formatInstant(one.oldestAt) : "-",
          one.lastError ?? "",
        ]);
        print(table(["channel", "waiting", "given up", "oldest", "reason"], lines));
      }
    });
  });
}

function stateOf(one: BookRow): string {
  if (one.resolved !== null) return "resolved";
  if (one.acknowledged !== null) return `acknowledged by ${one.acknowledgedBy ?? "somebody"}`;
  if (one.quiet !== null) return "quiet";
  if (one.opened === null) return one.watched ? "pending" : "noted";
  return "open";
}

function severityWord({ severity, resolved }: BookRow): string {
  if (resolved !== null) return severity;
  return severity === "critical"
    ? paint.red(severity)
    : severity === "warning"
      ? paint.yellow(severity)
      : severity;
}
