/** Asks this host's time daemon every minute, and passes on what it says. It never disturbs the process it runs in. */
import { sleep } from "../base/monotonic.ts";
import { askTimeSource, type RunCommand, runCommand, type TimeSource } from "./own-time-source.ts";

export interface TimeSourceLoop {
  /** Writes it down. @returns false when there is nothing yet to write it to: it is tried again soon */
  readonly note: (source: TimeSource) => Promise<boolean>;
  readonly signal: AbortSignal;
  readonly run?: RunCommand;
  readonly everyMs?: number;
  readonly retryMs?: number;
}

/** Ends with the signal. Never throws: a note that fails is history a minute later. */
export async function keepTimeSource(loop: TimeSourceLoop): Promise<void> {
  const { note, signal, everyMs = 60_000, retryMs = 5_000 } = loop;
  const run: RunCommand = loop.run ?? ((command, args) => runCommand(command, args, signal));
  let wasKnown = false;
  while (!signal.aborted) {
    let noted = false;
    try {
      const source = await askTimeSource(wasKnown, run);
      wasKnown ||= source.wasKnown;
      noted = !signal.aborted && (await note(source));
    } catch {
      // The store is away, or the daemon printed what nobody can read: the row stays, and grows old.
    }
    await sleep(noted ? everyMs : retryMs, signal);
  }
}
