/** Actions and checks of draining: no new work, the work in hand to its end or its lease's, and the proof. */
import { z } from "zod";
import { EscapementError } from "../../../base/errors.ts";
import { readStatus } from "../cluster-status.ts";
import type { HostWorld } from "../host-world.ts";
import {
  type ActionEntry,
  type CheckEntry,
  defineAction,
  defineCheck,
  no,
  type StepContext,
  yes,
} from "../registry.ts";
import { askStore } from "../toolkit.ts";

const none = z.strictObject({});

export const executorActions: readonly (readonly [string, ActionEntry<HostWorld>])[] = [
  [
    "drain-executor",
    defineAction("gives the executor no new work", none, (context) => tell(context, "drain")),
  ],
  [
    "undrain-executor",
    defineAction("gives the executor work again", none, (context) => tell(context, "undrain")),
  ],
  ["wait", defineAction("does nothing: its verification is what is waited for", none, async () => "")],
];

async function tell({ world, host }: StepContext<HostWorld>, verb: "drain" | "undrain"): Promise<string> {
  const args = [verb, host.name, "--reason", world.reason, "--by", world.person];
  const answer = await askStore(world, args);
  if (answer.exitCode === 0) return verb === "drain" ? "gets no new work" : "gets work again";
  throw new EscapementError("E_REFUSED", {
    what: `${verb} ${host.name}: ${answer.error?.message ?? `exit ${answer.exitCode}`}`,
    hint: "mend it and run the playbook again; it goes on at this step",
  });
}

export const executorChecks: readonly (readonly [string, CheckEntry<HostWorld>])[] = [
  [
    "executor-registered",
    defineCheck("whether the host's executor holds a living lease", none, async ({ world, host }) => {
      const { stdout } = await world.run(
        host.name,
        ["systemctl", "show", "-p", "MainPID", "--value", "escapement-executor.service"],
        { looks: true },
      );
      const pid = Number(stdout.trim());
      if (!pid) return no("its service does not run");
      const { executors } = await readStatus(world);
      const found = executors.find((one) => one.node === host.name && one.pid === pid && !one.expired);
      if (!found) return no("it has not registered yet");
      return found.state === "active" ? yes("registered, with a living lease") : no(`it is ${found.state}`);
    }),
  ],
  [
    "executor-drained",
    defineCheck("whether the executor gets no new work", none, async ({ world, host }) => {
      const { drained } = await readStatus(world);
      return drained.some((one) => one.node === host.name) ? yes("it is drained") : no("it may claim work");
    }),
  ],
  [
    "executor-gets-work",
    defineCheck("whether the executor may claim work", none, async ({ world, host }) => {
      const { drained } = await readStatus(world);
      return drained.some((one) => one.node === host.name) ? no("it is drained") : yes("it may claim work");
    }),
  ],
  [
    "no-running-records",
    defineCheck("whether the store has no running record of the host", none, async ({ world, host }) => {
      const { loads } = await readStatus(world);
      const running = loads.find((load) => load.node === host.name)?.running ?? 0;
      return running === 0 ? yes("no running record") : no(`${running} running record(s)`);
    }),
  ],
  [
    "other-executors-work",
    defineCheck("whether another executor takes work", none, async ({ world, host }) => {
      const { executors, drained } = await readStatus(world);
      const others = executors.filter(
        (one) =>
          one.node !== host.name &&
          one.state === "active" &&
          !one.expired &&
          !drained.some(({ node }) => node === one.node),
      );
      return others.length > 0
        ? yes(`${others.map((one) => one.node).join(", ")} can`)
        : no("no other executor could");
    }),
  ],
];
