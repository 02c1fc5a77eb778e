/** Halting hosts: all at once, each an answer of its own. */
import { expect, test } from "vitest";
import type { DrillHost } from "../../../src/chaos/host/drill-host.ts";
import { haltHosts } from "../../../src/cli/drill/halt-hosts.ts";

function door(host: string, halt: DrillHost["halt"]): DrillHost & { closed: boolean } {
  const no = () => Promise.reject(new Error("not asked"));
  const one = { host, closed: false, look: no, reach: no, begin: no, progress: no, audit: no, halt };
  return {
    ...one,
    close: async function (this: { closed: boolean }) {
      this.closed = true;
    },
  };
}

test("every host is asked before any has answered, and one that fails holds up no other", async () => {
  let asked = 0;
  let letGo = () => {};
  const all = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const waits = async () => {
    asked += 1;
    // Nobody is answered until all three were asked.
    if (asked === 3) letGo();
    await all;
  };
  const doors = [
    door("a", async () => {
      await waits();
      return { halted: true, restoredMs: 40 };
    }),
    door("b", async () => {
      await waits();
      throw new Error("it is gone");
    }),
    door("c", async () => {
      await waits();
      return { halted: false, restoredMs: 0 };
    }),
  ];
  expect(await haltHosts(doors)).toMatchObject([
    { host: "a", halted: true, restoredMs: 40, error: null },
    { host: "b", halted: null, restoredMs: null, error: "it is gone" },
    { host: "c", halted: false, restoredMs: 0, error: null },
  ]);
  expect(doors.map(({ closed }) => closed)).toEqual([true, true, true]);
});
