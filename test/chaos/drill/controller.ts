/** A controller in a process of its own, to be killed: runs one drill and tells every state it enters. */
import { runDrill } from "../../../src/chaos/drill/run-drill.ts";
import type { RunDrillOptions } from "../../../src/chaos/drill/run-options.ts";
import { Database } from "../../../src/store/database.ts";
import { DistantDrillHost } from "./door-server.ts";

export interface ControllerTask {
  readonly options: Omit<RunDrillOptions, "db" | "connectHost" | "signal" | "say" | "onState">;
  readonly storeUrl: string;
  readonly doors: number;
  /** It goes no further than the beginning of this state: what comes after it may take no time at all. */
  readonly standsAt?: string;
}

const { options, storeUrl, doors, standsAt } = JSON.parse(
  process.env.CONTROLLER_TASK ?? "{}",
) as ControllerTask;
const db = new Database(storeUrl, { applicationName: "controller", queryTimeoutMs: 5_000 });
const [first, second] = [new AbortController(), new AbortController()];
process.on("SIGINT", () => (first.signal.aborted ? second : first).abort("stopped by SIGINT"));
try {
  const { report } = await runDrill({
    ...options,
    db,
    connectHost: async ({ name }) => new DistantDrillHost(name, doors),
    signal: first.signal,
    hurry: second.signal,
    say: (line) => console.log(`say ${line}`),
    onState: async (state) => {
      console.log(`state ${state}`);
      if (state === standsAt) await new Promise(() => {});
    },
  });
  console.log(`verdict ${report.verdict} ${report.reason}`);
  process.exit(0);
} catch (error) {
  console.log(`error ${(error as { code?: string }).code ?? ""} ${error}`);
  process.exit(1);
}
