/** Puts hosts right, all at once, whatever is on there. */
import { messageOf } from "../../base/errors.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import type { DrillHost } from "../../chaos/host/drill-host.ts";

export interface HaltedHost {
  readonly host: string;
  /** False: there was no drill. Null: could not find out. */
  readonly halted: boolean | null;
  /** What the restore itself took, by the host's own clock. */
  readonly restoredMs: number | null;
  /** From the call to the answer. */
  readonly tookMs: number;
  readonly error: string | null;
}

/** Never throws; a host that cannot be reached is one entry, and holds up no other. */
export async function haltHosts(doors: readonly DrillHost[]): Promise<HaltedHost[]> {
  return Promise.all(
    doors.map(async (door): Promise<HaltedHost> => {
      const startedMs = monotonicMs();
      try {
        const { halted, restoredMs } = await door.halt();
        return { host: door.host, halted, restoredMs, tookMs: since(startedMs), error: null };
      } catch (error) {
        const failed = { halted: null, restoredMs: null, tookMs: since(startedMs) };
        return { host: door.host, ...failed, error: messageOf(error) };
      } finally {
        await door.close().catch(() => {});
      }
    }),
  );
}

function since(startedMs: number): number {
  return Math.round(monotonicMs() - startedMs);
}
