/** `escapement logs`: the output of jobs that is old enough to leave the host. */
import { hostname } from "node:os";
import { type Command, InvalidArgumentError } from "commander";
import { formatBytes } from "../base/bytes.ts";
import { parseDuration } from "../base/duration.ts";
import { EscapementError, messageOf } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import type { LogArchive } from "../executor/log-archive/archive.ts";
import { defineCommand } from "./command.ts";
import { countOption } from "./parse-option.ts";
import { print, printJson, say } from "./terminal.ts";

interface ShipOptions {
  readonly from: string;
  readonly to: string;
  readonly olderThan: number;
  readonly keepMonths?: number;
  readonly host: string;
  readonly endpoint?: string;
  readonly region: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function build(): Command {
  return defineCommand("logs", "move old job logs of this host into an archive", {
    examples: ["escapement logs ship --from /var/log/escapement --to /mnt/archive/job-logs --keep-months 12"],
    exitCodes: [ExitCode.ok, ExitCode.partial, ExitCode.unavailable],
  }).addCommand(ship());
}

function ship(): Command {
  return defineCommand("ship", "move old job logs of this host into an archive", {
    examples: [
      "escapement logs ship --from /var/log/escapement --to /mnt/archive/job-logs --keep-months 12",
      "escapement logs ship --from /var/log/escapement --to s3://job-logs/prod --endpoint https://s3.example.com",
      "escapement logs ship --from /var/log/escapement --to /mnt/archive/job-logs --dry-run",
    ],
    exitCodes: [ExitCode.ok, ExitCode.partial, ExitCode.usage, ExitCode.badData, ExitCode.unavailable],
    notes:
      "A log is removed here only after the archive has it, whole. Shipping again is harmless.\nCredentials of an object store: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN.",
  })
    .requiredOption("--from <folder>", "the log folder of the cluster file")
    .requiredOption("--to <place>", "a folder, or s3://BUCKET/PREFIX")
    .option("--older-than <duration>", "rotated files last written before that", ageOption, 30 * 86_400_000)
    .option("--keep-months <count>", "remove files of the archive that are older", countOption(1, 240))
    .option("--host <name>", "keep them under this name", hostname())
    .option("--endpoint <url>", "of the object store")
    .option("--region <name>", "of the object store", "us-east-1")
    .option("--dry-run", "only say what would be moved")
    .option("--json", "print one JSON document")
    .action(async (options: ShipOptions) => {
      const { shipLogs } = await import("../executor/log-archive/ship-logs.ts");
      const archive = await archiveOf(options);
      const files = await shipLogs({
        folder: options.from,
        host: options.host,
        archive,
        before: new Date(Date.now() - options.olderThan),
        ...(options.dryRun ? { dryRun: true } : {}),
        onFile: ({ file, outcome, sizeBytes, reason }) => {
          if (options.json) return;
          const line = `${outcome}  ${formatBytes(sizeBytes)}  ${file}${reason === undefined ? "" : `: ${reason}`}`;
          if (outcome === "failed") say(line);
          else print(line);
        },
      }).catch((error: unknown) => {
        throw new EscapementError("E_FILE_UNREADABLE", { file: options.from, reason: messageOf(error) });
      });
      const failed = files.filter(({ outcome }) => outcome === "failed").length;
      const prunes = options.keepMonths !== undefined && !options.dryRun && failed === 0;
      const pruned = prunes ? await archive.prune(monthsAgo(options.keepMonths!)) : undefined;
      if (options.json)
        printJson({ archive: archive.place, files, ...(pruned === undefined ? {} : { pruned }) });
      else {
        const verb = options.dryRun ? "would be shipped" : "shipped";
        print(`${files.length - failed} ${verb} to ${archive.place}, ${failed} failed`);
        if (pruned === null) print("the object store removes old files by a lifecycle rule of its own");
        else if (pruned !== undefined) print(`${pruned} removed from the archive`);
      }
      if (failed > 0) process.exitCode = failed < files.length ? ExitCode.partial : ExitCode.unavailable;
    });
}

function ageOption(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}

function monthsAgo(months: number): Date {
  const instant = new Date();
  instant.setUTCMonth(instant.getUTCMonth() - months);
  return instant;
}

async function archiveOf({ to, endpoint, region }: ShipOptions): Promise<LogArchive> {
  if (!to.startsWith("s3://")) {
    const { FolderArchive } = await import("../executor/log-archive/folder-archive.ts");
    return new FolderArchive(to);
  }
  const [bucket = "", ...prefix] = to.slice("s3://".length).split("/");
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  const missing = (what: string) => new EscapementError("E_USAGE", { what });
  if (bucket === "") throw missing(`${to} names no bucket; write s3://BUCKET/PREFIX`);
  if (endpoint === undefined || !URL.canParse(endpoint))
    throw missing("an object store needs --endpoint URL");
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY)
    throw missing("an object store needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment");
  const { S3Archive } = await import("../executor/log-archive/s3-archive.ts");
  return new S3Archive({
    endpoint,
    region,
    bucket,
    prefix: prefix.join("/"),
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
  });
}
