/**
 * What stops a drill from outside.
 *
 *   on ──SIGINT, SIGTERM, SIGHUP──▶ taking back ──SIGINT, SIGTERM──▶ left
 *
 * A terminal that closes sends SIGHUP, and its shell often sends another one. Nobody asks for haste by that: it never
 * makes a drill leave.
 */
import { EscapementError } from "../../base/errors.ts";
import { say } from "../terminal.ts";

export interface StopSignals {
  /** Take the fault back and end the run; its reason says why. */
  readonly first: AbortSignal;
  /** Leave at once; its reason names the signal. */
  readonly second: AbortSignal;
  /** Rejects after the second one, once whoever listens to it had their word. */
  readonly left: Promise<never>;
  close(): void;
}

const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** @param source of the signals; default: this process */
export function stopSignals(source: Pick<NodeJS.Process, "on" | "off"> = process): StopSignals {
  const [first, second] = [new AbortController(), new AbortController()];
  const left = new Promise<never>((_, reject) => {
    const leave = () => reject(new EscapementError("E_INTERRUPTED", { signal: second.signal.reason }));
    second.signal.addEventListener("abort", () => setImmediate(leave), { once: true });
  });
  left.catch(() => {});
  const onSignal = (name: NodeJS.Signals) => {
    if (!first.signal.aborted) {
      say("taking the fault back; once more to leave at once");
      first.abort(`stopped by ${name}`);
    } else if (name !== "SIGHUP") second.abort(name);
  };
  for (const name of names) source.on(name, onSignal);
  return {
    first: first.signal,
    second: second.signal,
    left,
    close: () => {
      for (const name of names) source.off(name, onSignal);
    },
  };
}
