/**
 * Brings a release to one host.
 *
 *   probe ──present──────────────────────────▶ activate ──▶ switched, or nothing to do
 *     └──absent──▶ upload what is missing ──────┘
 *
 * Cut short anywhere, the host goes on with what it had: the switch is one
 * rename at the end, after the host has checked the sums itself. The next try
 * takes up what has arrived whole.
 */
import { EscapementError } from "../../base/errors.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import type { ExecResult, Remote } from "../../remote/remote.ts";
import { type HostAnswer, readHostAnswer } from "./host-answer.ts";
import { activateScript, probeScript, rollbackScript, root } from "./host-scripts.ts";
import type { Release } from "./release.ts";

export interface Deployed {
  readonly host: string;
  /** False: the host ran this version already. */
  readonly changed: boolean;
  readonly version: string;
  /** What a rollback goes back to. */
  readonly previous: string | undefined;
  /** Over the network; files that the host had already are not counted. */
  readonly uploadedBytes: number;
  readonly durationMs: number;
}

export interface DeployOptions {
  /** Versions kept on the host, the current and the previous one included. */
  readonly keepVersions?: number;
  readonly signal?: AbortSignal;
}

/** A slow link needs minutes for a hundred megabytes. */
const uploadDeadlineMs = 15 * 60_000;
const commandDeadlineMs = 2 * 60_000;
/** Free space left over, in kilobytes, after the upload. */
const reserveKilobytes = 50_000;

/**
 * @throws E_REFUSED for another architecture, too little space, or files that arrived changed;
 * E_UNKNOWN and the errors of Remote
 */
export async function deploy(
  remote: Remote,
  release: Release,
  options: DeployOptions = {},
): Promise<Deployed> {
  const startedMs = monotonicMs();
  const sums = Object.fromEntries(release.files.map((file) => [file.name, file.sha256]));
  const probe = await run(remote, probeScript, [release.version, sums["escapement.mjs"]!, sums.node!]);
  const { host } = remote;
  const machine = probe.last("machine") ?? "unknown";
  if (machine !== release.machine)
    throw new EscapementError(
      "E_REFUSED",
      {
        what: `${host} is a ${machine} machine, this release holds a Node binary for ${release.machine}`,
        hint: `deploy to it from a ${machine} machine`,
      },
      { at: host },
    );
  let uploadedBytes = 0;
  if (probe.last("present") !== "yes") {
    const have = new Set(probe.all("have"));
    const missing = release.files.filter((file) => !have.has(file.name));
    requireSpace(host, probe, missing);
    for (const file of missing) {
      options.signal?.throwIfAborted();
      await remote.upload({
        content: file.content,
        path: `${root}/versions/.staging-${release.version}/${file.name}`,
        mode: file.name === "manifest.json" ? 0o644 : 0o755,
        sha256: file.sha256,
        asRoot: true,
        deadlineMs: uploadDeadlineMs,
      });
      uploadedBytes += file.sizeBytes;
    }
  }
  options.signal?.throwIfAborted();
  const answer = await run(remote, activateScript, [release.version, String(options.keepVersions ?? 3)]);
  return {
    host,
    changed: answer.last("switched") !== undefined,
    version: release.version,
    previous: answer.last("previous") || undefined,
    uploadedBytes,
    durationMs: monotonicMs() - startedMs,
  };
}

/** Goes back to the version before. @throws E_REFUSED where there is none, or it is not whole */
export async function rollbackDeployment(
  remote: Remote,
): Promise<{ host: string; version: string; previous: string }> {
  const answer = await run(remote, rollbackScript, []);
  return {
    host: remote.host,
    version: answer.last("current") ?? "",
    previous: answer.last("previous") ?? "",
  };
}

function requireSpace(host: string, probe: HostAnswer, missing: Release["files"]): void {
  const free = Number(probe.last("freeKilobytes"));
  const needed = missing.reduce((sum, file) => sum + file.sizeBytes, 0) / 1024 + reserveKilobytes;
  if (Number.isFinite(free) && free < needed)
    throw new EscapementError(
      "E_REFUSED",
      {
        what: `${host} has ${Math.round(free / 1024)} MiB free below ${root}, the release needs ${Math.round(needed / 1024)} MiB`,
        hint: "make room and run the command again; nothing was uploaded",
      },
      { at: host },
    );
}

async function run(remote: Remote, script: string, args: readonly string[]): Promise<HostAnswer> {
  const result: ExecResult = await remote.exec({
    argv: ["sh", "-s", "--", ...args],
    stdin: script,
    asRoot: true,
    deadlineMs: commandDeadlineMs,
  });
  return readHostAnswer(remote.host, result);
}
