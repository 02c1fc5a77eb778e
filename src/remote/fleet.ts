/** The same work on many hosts: so many at once, a result for each, and no host's trouble is another's. */

import { setMaxListeners } from "node:events";
import { EscapementError } from "../base/errors.ts";
import { ExitCode } from "../base/exit-code.ts";
import { monotonicMs } from "../base/monotonic.ts";
import { type HostFailure, remoteFailure } from "./failure.ts";
import type { Connect, Remote, RemoteTarget } from "./remote.ts";

/** Logging in costs this side some milliseconds of CPU a host; more at once only makes each slower. */
export const hostsAtOnce = 32;

export type HostResult<T> = { readonly host: string; readonly durationMs: number } & (
  | { readonly status: "ok"; readonly value: T }
  | HostFailure
);

export interface FleetOptions<T> {
  readonly connect: Connect;
  readonly targets: readonly RemoteTarget[];
  /** Called with a connection that is closed afterwards, whatever happens. `signal` fires when all is to stop. */
  readonly work: (remote: Remote, target: RemoteTarget, signal: AbortSignal) => Promise<T>;
  /** Default: {@link hostsAtOnce}. */
  readonly concurrency?: number;
  /** Called once for every host, in the order in which they end. What it throws is passed over. */
  readonly onResult?: (result: HostResult<T>, done: number, all: number) => void;
  /** When it fires, running connections are closed and hosts not yet begun are skipped. */
  readonly signal?: AbortSignal;
}

/** @returns one result a target, in the order of the targets. Never throws. */
export async function runFleet<T>(options: FleetOptions<T>): Promise<readonly HostResult<T>[]> {
  const { targets, concurrency = hostsAtOnce } = options;
  const signal = options.signal ?? new AbortController().signal;
  // Every host that is worked on listens.
  setMaxListeners(0, signal);
  const results: HostResult<T>[] = new Array(targets.length);
  let next = 0;
  let done = 0;
  const worker = async (): Promise<void> => {
    while (next < targets.length) {
      const index = next++;
      const result = await onOneHost(targets[index]!, options, signal);
      results[index] = result;
      done++;
      try {
        options.onResult?.(result, done, targets.length);
      } catch {
        // Telling about a host is no part of the work on it.
      }
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(concurrency, targets.length)) }, worker));
  return results;
}

/** 0 when all hosts are ok, 69 when none could be reached, 130 when stopped, else 3. */
export function fleetExitCode(results: readonly HostResult<unknown>[]): ExitCode {
  const bad = results.filter(({ status }) => status !== "ok");
  if (bad.length === 0) return ExitCode.ok;
  if (bad.some((result) => "code" in result && result.code === "E_INTERRUPTED")) return ExitCode.interrupted;
  if (bad.length < results.length) return ExitCode.partial;
  return bad.every(({ status }) => status === "unreachable") ? ExitCode.unavailable : ExitCode.failed;
}

async function onOneHost<T>(
  target: RemoteTarget,
  { connect, work }: FleetOptions<T>,
  signal: AbortSignal,
): Promise<HostResult<T>> {
  const startedMs = monotonicMs();
  const end = () => ({ host: target.host, durationMs: monotonicMs() - startedMs });
  let remote: Remote | undefined;
  const stopped = stopOf(signal);
  try {
    if (signal.aborted) throw interrupted();
    const connecting = connect(target);
    // A connection that comes up after the stop is closed when it does.
    connecting.then(
      (late) => {
        if (signal.aborted) late.close().catch(() => {});
      },
      () => {},
    );
    remote = await Promise.race([connecting, stopped.promise]);
    const value = await Promise.race([work(remote, target, signal), stopped.promise]);
    return { ...end(), status: "ok", value };
  } catch (error) {
    return { ...end(), ...remoteFailure(signal.aborted ? interrupted() : error) };
  } finally {
    stopped.forget();
    await remote?.close().catch(() => {});
  }
}

function interrupted(): EscapementError {
  return new EscapementError("E_INTERRUPTED", { signal: "request" });
}

function stopOf(signal: AbortSignal): { readonly promise: Promise<never>; forget(): void } {
  let stop = () => {};
  const promise = new Promise<never>((_, reject) => {
    stop = () => reject(interrupted());
    signal.addEventListener("abort", stop, { once: true });
  });
  promise.catch(() => {});
  return { promise, forget: () => signal.removeEventListener("abort", stop) };
}
