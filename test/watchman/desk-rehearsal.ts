/** A desk with a store of its own, a file of its own and receivers, whose passes happen when the test says so. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Log } from "../../src/base/log.ts";
import { formatProblem } from "../../src/spec/problem.ts";
import type { WatchDefinition } from "../../src/spec/watch-definition.ts";
import { Database } from "../../src/store/database.ts";
import { AlertDesk } from "../../src/watchman/alert-desk.ts";
import type { Finding } from "../../src/watchman/finding.ts";
import type { Picture } from "../../src/watchman/picture.ts";
import { readWatchFile } from "../../src/watchman/watch-file.ts";
import { freshDatabase } from "../support/database.ts";
import type { Receiver } from "../support/receiver.ts";

const start = Date.parse("2026-07-01T00:00:00Z");

export const secret = "key of the tests";

/** Everything that was logged, as text: secrets must not be in it. */
export class KeptLog implements Log {
  text = "";
  info = (fields: Record<string, unknown>, message: string) => this.#keep(fields, message);
  warn = this.info;
  error = this.info;
  debug = this.info;
  #keep(fields: Record<string, unknown>, message: string): void {
    const plain = Object.entries(fields).map(
      ([key, value]) => `${key}=${value instanceof Error ? value.stack : value}`,
    );
    this.text += `${message} ${plain.join(" ")}\n`;
  }
}

export function finding(key: string, more: Partial<Finding> = {}): Finding {
  return {
    rule: "late-start",
    key,
    severity: "warning",
    message: `${key} is late.`,
    evidence: {},
    hint: "look",
    ...more,
  };
}

export class DeskRehearsal {
  readonly folder: string;
  readonly watch: WatchDefinition;
  readonly url: string;
  readonly log: KeptLog;
  readonly db: Database;
  desk: AlertDesk;
  /** The database's clock, as passes are told it. */
  now = new Date(start);

  private constructor(
    folder: string,
    watch: WatchDefinition,
    url: string,
    db: Database,
    desk: AlertDesk,
    log: KeptLog,
  ) {
    this.log = log;
    this.folder = folder;
    this.watch = watch;
    this.url = url;
    this.db = db;
    this.desk = desk;
  }

  /** @param spec what the watch file has besides or in place of a webhook channel `ops` */
  static async open(receiver: Receiver, spec = ""): Promise<DeskRehearsal> {
    const { url, drop } = await freshDatabase({ migrated: true });
    const folder = mkdtempSync(join(tmpdir(), "desk-"));
    const watch = await watchOf(folder, receiver, spec);
    const db = new Database(url, { maxConnections: 4, connectTimeoutMs: 1_000 });
    const log = new KeptLog();
    let rehearsal: DeskRehearsal | undefined;
    const stopwatchMs = () => rehearsal?.now.getTime() ?? start;
    const desk = await AlertDesk.open({ watch, db, who: who(), log, stopwatchMs });
    onTestFinished(async () => {
      await rehearsal?.desk.close();
      await db.end();
      await drop();
      rmSync(folder, { recursive: true });
    });
    rehearsal = new DeskRehearsal(folder, watch, url, db, desk, log);
    return rehearsal;
  }

  /** One pass with its deliveries, then half a minute. */
  async pass(findings: readonly Finding[], more: { away?: boolean } = {}): Promise<void> {
    await this.desk.present(findings, more.away ? null : ({ now: this.now } as Picture));
    await this.desk.settled();
    this.now = new Date(this.now.getTime() + 30_000);
  }

  async passes(count: number, findings: readonly Finding[]): Promise<void> {
    for (let i = 0; i < count; i++) await this.pass(findings);
  }

  /** Another process life, with the same file and store. */
  async restart(db: Database = this.db): Promise<void> {
    await this.desk.close();
    const stopwatchMs = () => this.now.getTime();
    this.desk = await AlertDesk.open({ watch: this.watch, db, who: who(), log: this.log, stopwatchMs });
  }

  async rows(sql: string): Promise<Record<string, unknown>[]> {
    return (await this.db.query(sql)).rows;
  }

  spoolText(): string {
    try {
      return readFileSync(this.watch.spoolFile, "utf8");
    } catch {
      return "";
    }
  }
}

export function who(): { node: string; host: string; pid: number; version: string } {
  return { node: "w1", host: "test", pid: process.pid, version: "0" };
}

/** Later keys of the same name win, so that a test may replace what is here. */
async function watchOf(folder: string, receiver: Receiver, spec: string): Promise<WatchDefinition> {
  const file = join(folder, "watch.yaml");
  writeFileSync(join(folder, "key"), secret);
  const defaults: [RegExp, string][] = [
    [/^ {2}startUpGrace:/m, "  startUpGrace: 0s"],
    [/^ {2}spoolFile:/m, "  spoolFile: spool"],
    [
      /^ {2}channels:/m,
      `  channels: [{ name: ops, type: webhook, url: "${receiver.url}/ops", secretFile: key }]`,
    ],
    [/^ {2}routes:/m, "  routes: [{ channels: [ops] }]"],
  ];
  const text = spec.replaceAll("URL", receiver.url);
  const missing = defaults.filter(([pattern]) => !pattern.test(text)).map(([, line]) => line);
  writeFileSync(
    file,
    [
      "apiVersion: escapement/v1",
      "kind: Watch",
      "metadata: { name: test }",
      "spec:",
      ...missing,
      text,
      "",
    ].join("\n"),
  );
  const { watch, problems } = await readWatchFile(file);
  if (!watch) throw new Error(problems.map(formatProblem).join("\n"));
  return watch;
}

/** `phase key`, or `digest phase key, phase key`. */
export function told(receiver: Receiver, path = "/ops"): string[] {
  return receiver.accepted
    .filter((one) => one.path === path)
    .map(({ json }) =>
      json.kind === "digest"
        ? `digest ${json.alerts.map((one: { phase: string; key: string }) => `${one.phase} ${one.key}`).join(", ")}`
        : `${json.alert.phase} ${json.alert.key}`,
    );
}
