/** The runner is killed after each of its steps; whoever puts the host right, it is wholly old. */
import { expect, test } from "vitest";
import { settleAndReadBundle } from "../../src/provision/bundle/settle-bundle.ts";
import type { FakeHost } from "./support/fake-host.ts";
import { apply, host, old, plan, wanted } from "./support/transactions.ts";

test("killed at every step, then met again, by the timer, or after a power cut: wholly old, no restart lost", async () => {
  const template = old();
  const before = template.snapshot();
  let steps = 0;
  for (let stopAt = 1, done = false; !done; stopAt++) {
    for (const way of ["contact", "timer", "power", "undo-killed"] as const) {
      if (way === "undo-killed" && stopAt % 3 !== 0) continue;
      const on = host(template);
      const stops = { stopAt, ...(way === "undo-killed" && { stopUndoAt: 1 + (stopAt % 9) }) };
      const said = await apply(on, await plan(on, wanted), stops);
      done = said[0] !== "killed";
      if (done) {
        expect(said).toEqual(["result\tapplied\t"]);
        break;
      }
      steps = stopAt;
      if (way === "timer" || way === "undo-killed") await on.undo("timer");
      if (way === "power") await on.powerCycle();
      if (way === "undo-killed") await stripUndoStop(on);
      if (way !== "timer") await meet(on);
      expect(on.snapshot(), `${way} after step ${stopAt}`).toEqual(before);
      if (stopAt % 7 === 0) {
        const again = await apply(on, await plan(on, wanted), { id: "20260101T000009Z-a" });
        expect(again.at(-1)).toMatch(/^result\tapplied/);
        expect(on.text("running/one.service")).toBe(on.text("/etc/one.conf"));
      }
      on.remove();
    }
  }
  console.log(`killed at each of ${steps} steps, three or four ways`);
  expect(steps).toBeGreaterThan(20);
}, 600_000);

/** The next contact. A change that was finished waits for its confirmation, and the timer for that. */
async function meet(on: FakeHost): Promise<void> {
  const answer = await on.run(settleAndReadBundle([], { paths: on.paths, path: on.bin }));
  if ("lost" in answer) throw new Error(answer.lost);
  if (answer.facts.at(-1)!.startsWith("result\tbusy")) await on.undo("timer");
}

async function stripUndoStop(on: FakeHost): Promise<void> {
  for (const id of on.transactions()) {
    const script = `/var/lib/escapement-apply/txn/${id}/undo.sh`;
    const text = on.text(script);
    if (text !== undefined) on.write(script, text.replace(/^ESC_UNDO_STOP_AT=.*$/m, "ESC_UNDO_STOP_AT="));
  }
}
