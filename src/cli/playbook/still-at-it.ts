/** What takes long is heard of again, so that nobody takes patience for a hang: installing a package, waiting for a restart. */
import { formatDuration } from "../../base/duration.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import type { RunEvent } from "../../provision/playbook/runner.ts";

const everyMs = 20_000;

/** @returns `tell`, and with it a line every so often for each host that a step has begun on and not ended */
export function withStillAtIt(
  tell: (event: RunEvent) => void,
  say: (line: string) => void,
): (event: RunEvent) => void {
  const timers = new Map<string, NodeJS.Timeout>();
  return (event) => {
    if (event.event === "begin") {
      const { host } = event;
      const begunMs = monotonicMs();
      const again = () => {
        const tookMs = Math.round((monotonicMs() - begunMs) / 1_000) * 1_000;
        say(`  ${host}  still at it after ${formatDuration(tookMs)}`);
      };
      // It keeps nobody's program alive.
      timers.set(unitOf(event), setInterval(again, everyMs).unref());
    }
    if (event.event === "end") {
      clearInterval(timers.get(unitOf(event)));
      timers.delete(unitOf(event));
    }
    tell(event);
  };
}

function unitOf({ step, host }: { readonly step: string; readonly host: string }): string {
  return JSON.stringify([step, host]);
}
