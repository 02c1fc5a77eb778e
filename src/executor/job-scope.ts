/**
 * Attempts in systemd scopes of their own, as the user their job names. The
 * executor stays unprivileged: what needs root is done by one small program of
 * the host, started through sudo, which judges by a list that root owns.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { monotonicMs, sleep } from "../base/monotonic.ts";
import type { Attempt } from "./attempt.ts";
import type { ScopeOrder } from "./supervisor/protocol.ts";

const run = promisify(execFile);

/** Put there by the executor profile; sudo allows it and nothing else. */
export const runJobProgram = "/usr/local/lib/escapement/run-job";
/** The unit that the scopes end with. */
const executorUnit = "escapement-executor.service";
/** Of jobs that name nobody. Not our own: that one can read the URL of the record store. */
const defaultUser = "escapement-job";
/** What a job may use above its declared peak before it is killed. */
const memoryHeadroom = 1.5;
const tasksMax = 4_096;
const commandLimitMs = 10_000;

const sudo = ["sudo", "-n", runJobProgram] as const;

/** Incarnations are UUIDs; a part is enough to tell those of one host apart, and unit names stay short. */
function scopePrefix(incarnation: string): string {
  return `escapement-job-${incarnation.replaceAll("-", "").slice(0, 12).toLowerCase()}-`;
}

/** How the supervisor starts and ends an attempt in a scope. */
export function scopeOrder(attempt: Attempt): ScopeOrder {
  const { definition, claim } = attempt;
  const unit = `${scopePrefix(attempt.lease.incarnation)}${attempt.id}`;
  const place = definition.workingDirectory;
  return {
    start: [
      ...sudo,
      ...["--user", definition.runAs ?? defaultUser, "--unit", unit, "--bound-to", executorUnit],
      ...["--memory-max", String(Math.ceil(definition.resources.peakMemoryBytes * memoryHeadroom))],
      ...["--tasks-max", String(tasksMax)],
      ...(place === undefined ? [] : ["--directory", place]),
      "--",
    ],
    end: [...sudo, "--end", unit],
    about: `shard ${claim.shardNo}, memory limit ${Math.ceil((definition.resources.peakMemoryBytes * memoryHeadroom) / 2 ** 20)} MiB`,
  };
}

/**
 * Ends every scope of an incarnation that is gone.
 * @param limitMs then it gives up
 * @returns the scopes that are still there; `undefined` where systemd could not be asked
 */
export async function endScopes(
  incarnation: string,
  limitMs: number,
): Promise<{ ended: readonly string[]; left: readonly string[] | undefined }> {
  const ended = new Set<string>();
  const untilMs = monotonicMs() + limitMs;
  for (;;) {
    const found = await activeScopes(scopePrefix(incarnation));
    if (found === undefined || found.length === 0) return { ended: [...ended], left: found };
    for (const unit of found) {
      ended.add(unit);
      await run(sudo[0], [...sudo.slice(1), "--end", unit], { timeout: commandLimitMs }).catch(() => {});
    }
    if (monotonicMs() > untilMs) return { ended: [...ended], left: found };
    await sleep(50);
  }
}

async function activeScopes(prefix: string): Promise<string[] | undefined> {
  try {
    const { stdout } = await run(
      "systemctl",
      ["list-units", "--type=scope", "--state=active,deactivating", "--plain", "--no-legend", `${prefix}*`],
      { timeout: commandLimitMs },
    );
    return [...stdout.matchAll(/^(escapement-job-\S+)\.scope\s/gm)].map((match) => match[1]!);
  } catch {
    return undefined;
  }
}
