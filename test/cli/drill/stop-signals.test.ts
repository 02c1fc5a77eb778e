/** Which signals take a fault back, and which make a drill leave. */
import { EventEmitter } from "node:events";
import { expect, it } from "vitest";
import { stopSignals } from "../../../src/cli/drill/stop-signals.ts";

it.each([
  ["SIGINT", "stopped by SIGINT", null],
  ["SIGTERM", "stopped by SIGTERM", null],
  ["SIGHUP", "stopped by SIGHUP", null],
  ["SIGINT SIGINT", "stopped by SIGINT", "SIGINT"],
  ["SIGTERM SIGINT", "stopped by SIGTERM", "SIGINT"],
  // A terminal that closes, and its shell that goes with it.
  ["SIGHUP SIGHUP SIGHUP", "stopped by SIGHUP", null],
  // Ctrl-C, and the window closed while it takes back.
  ["SIGINT SIGHUP", "stopped by SIGINT", null],
  ["SIGHUP SIGTERM", "stopped by SIGHUP", "SIGTERM"],
])("%s", async (signals, first, second) => {
  const source = new EventEmitter();
  const stop = stopSignals(source as unknown as NodeJS.Process);
  for (const name of signals.split(" ")) source.emit(name, name);
  expect([stop.first.reason, stop.second.aborted ? stop.second.reason : null]).toEqual([first, second]);
  if (second !== null)
    await expect(stop.left).rejects.toMatchObject({
      code: "E_INTERRUPTED",
      message: `stopped by ${second}`,
    });
  stop.close();
  expect(source.eventNames()).toEqual([]);
});
