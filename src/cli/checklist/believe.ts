/** Options by which a stored report is believed or refused. */
import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { parseDuration } from "../../base/duration.ts";
import { EscapementError, messageOf } from "../../base/errors.ts";
import type { StoredReport } from "../../checklist/read-report.ts";

/** A gate is asked about the state of today. */
const defaultMaxAgeMs = 86_400_000;

export interface BelieveOptions {
  readonly key?: string;
  readonly cluster?: string;
  readonly commit?: string;
  readonly uncheckedFiles?: boolean;
  readonly maxAge?: number;
}

export function withBelieveOptions(command: Command): Command {
  return command
    .option("--key <file>", "public key: refuse a report that is not signed with its private one")
    .option("--cluster <id>", "refuse a report of another cluster")
    .option("--commit <id>", "refuse a report of another commit, or of files with changes on top")
    .option("--unchecked-files", "with --commit: accept files that nobody could hold against the commit")
    .option("--max-age <duration>", "refuse an older report (default: a day)", age);
}

/** @throws E_REPORT_REFUSED with every reason, E_FILE_UNREADABLE, E_BAD_VALUE */
export async function believe(stored: StoredReport, options: BelieveOptions, now: Date): Promise<void> {
  const { refusals } = await import("../../checklist/verify-report.ts");
  const { key, cluster, commit, uncheckedFiles, maxAge = defaultMaxAgeMs } = options;
  const found = refusals(
    stored,
    {
      ...(key !== undefined && { publicPem: await readPublicKey(key) }),
      ...(cluster !== undefined && { clusterId: cluster }),
      ...(commit !== undefined && { commit }),
      ...(uncheckedFiles !== undefined && { uncheckedFiles }),
      maxAgeMs: maxAge,
    },
    now,
  );
  if (found.length > 0)
    throw new EscapementError("E_REPORT_REFUSED", {
      reason: found.join("; "),
      hint:
        stored.raw.signature === undefined && key !== undefined
          ? "sign it where it is made: escapement checklist --format json -o DIR --sign KEY"
          : "run the checklist again here, on the files of this commit",
    });
}

/** The public half: the private one has no business where reports are judged. @throws E_REFUSED */
async function readPublicKey(file: string): Promise<string> {
  const pem = await readKey(file);
  if (pem.includes("PRIVATE KEY"))
    throw new EscapementError("E_REFUSED", {
      what: `${file} is a private key`,
      hint: "name its public half, and keep this one where reports are made",
    });
  return pem;
}

/** @throws E_FILE_UNREADABLE */
export async function readKey(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) }, { cause: error });
  }
}

function age(text: string): number {
  try {
    return parseDuration(text);
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
}
