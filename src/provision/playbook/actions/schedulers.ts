/** Actions and checks around the leadership and the address that follows it. */
import { z } from "zod";
import { EscapementError } from "../../../base/errors.ts";
import { monotonicMs, sleep } from "../../../base/monotonic.ts";
import { readStatus } from "../cluster-status.ts";
import type { HostWorld } from "../host-world.ts";
import {
  type ActionEntry,
  type CheckAnswer,
  type CheckEntry,
  defineAction,
  defineCheck,
  no,
  type PlaybookHost,
  type StepContext,
  unknown,
  yes,
} from "../registry.ts";
import { leaveThisVersion } from "./hosts.ts";

const none = z.strictObject({});
const unit = "escapement-scheduler.service";
/** Lease, retry, tick and margin at the default settings come to 18 s; a handover gives the lease back at once. */
const handoverDeadlineMs = 60_000;

export const schedulerActions: readonly (readonly [string, ActionEntry<HostWorld>])[] = [
  [
    "switch-leader",
    defineAction(
      "stops the scheduler that leads, waits until another leads and has the address, and starts it again",
      none,
      async (context) => ((await leads(context)) ? handOver(context) : `${context.host.name} does not lead`),
    ),
  ],
  [
    "restart-scheduler",
    defineAction("restarts the scheduler; one that leads hands over first", none, restart),
  ],
  [
    "rollback-scheduler",
    defineAction(
      "takes the host from this toolkit back to the version before, and restarts the scheduler",
      none,
      async (context) => {
        const note = await leaveThisVersion(context);
        return `${note}, ${await restart(context)}`;
      },
    ),
  ],
];

async function restart(context: StepContext<HostWorld>): Promise<string> {
  if (await leads(context)) return handOver(context);
  await systemctl(context.world, context.host.name, "restart");
  return "restarted as a standby";
}

async function leads({ world, host }: StepContext<HostWorld>): Promise<boolean> {
  const { leader } = await readStatus(world);
  return leader.alive && leader.node === host.name;
}

/** Between the stop and the start nobody else's scheduler is touched, so there is one all the time. */
async function handOver({ world, host, signal }: StepContext<HostWorld>): Promise<string> {
  await systemctl(world, host.name, "stop");
  try {
    const untilMs = monotonicMs() + handoverDeadlineMs;
    for (;;) {
      const status = await readStatus(world).catch(() => undefined);
      const address = await whereIsAddress(world);
      const isLed = status?.leader.alive === true && status.leader.node !== host.name;
      const isMoved = !address || (address.holders.length > 0 && !address.holders.includes(host.name));
      if (isLed && isMoved) return `${status.leader.node} leads, epoch ${status.leader.epoch}`;
      if (signal.aborted || monotonicMs() > untilMs)
        throw new EscapementError("E_REFUSED", {
          what: isLed
            ? `the address stays at ${address?.holders.join(", ") || "nobody"}`
            : `nobody has taken the lead from ${host.name}`,
          hint: "its scheduler runs again; look at the other one's journal and keepalived",
        });
      await sleep(500, signal);
    }
  } finally {
    // Whatever came of it: two schedulers are better than one.
    await systemctl(world, host.name, "start");
  }
}

async function systemctl(world: HostWorld, host: string, verb: string): Promise<void> {
  const { exitCode, stderr } = await world.run(host, ["systemctl", verb, unit], { deadlineMs: 120_000 });
  if (exitCode !== 0)
    throw new EscapementError("E_REFUSED", {
      what: `${host}: systemctl ${verb} ${unit}: ${stderr.trim().split("\n")[0]}`,
      hint: `on the host, journalctl -u ${unit} says why`,
    });
}

export const schedulerChecks: readonly (readonly [string, CheckEntry<HostWorld>])[] = [
  [
    "leader-exists",
    defineCheck("whether a scheduler leads", none, async ({ world }) => {
      const { leader } = await readStatus(world);
      return leader.alive ? yes(`${leader.node} leads, epoch ${leader.epoch}`) : no("nobody leads");
    }),
  ],
  [
    "leader-elsewhere",
    defineCheck("whether another scheduler than the host's leads", none, async ({ world, host }) => {
      const { leader } = await readStatus(world);
      if (!leader.alive) return no("nobody leads");
      return leader.node === host.name ? no(`${host.name} leads`) : yes(`${leader.node} leads`);
    }),
  ],
  [
    "scheduler-ready",
    defineCheck("whether the host's scheduler leads or stands by", none, async ({ world, host }) =>
      judgeScheduler(world, host),
    ),
  ],
  [
    "other-scheduler-ready",
    defineCheck("whether a scheduler elsewhere could take over", none, async ({ world, host }) => {
      const others = world.hosts.filter((one) => one.roles.includes("scheduler") && one.name !== host.name);
      const answers = await Promise.all(
        others.map((one) => judgeScheduler(world, one).catch(() => undefined)),
      );
      return (
        answers.find((answer) => answer?.answer === "yes") ??
        no(answers.map((answer) => answer?.because).join("; ") || "there is no other scheduler")
      );
    }),
  ],
  [
    "vip-held-once",
    defineCheck("whether exactly one scheduler has the virtual address", none, async ({ world }) => {
      const found = await whereIsAddress(world);
      if (!found) return yes("the inventory has no setting virtualIp");
      const { holders, silent } = found;
      if (holders.length > 1) return no(`${holders.join(" and ")} have it at once`);
      if (silent.length > 0 && holders.length === 0) return unknown(`${silent.join(", ")} did not say`);
      return holders.length === 1 ? yes(`${holders[0]} has it`) : no("nobody has it");
    }),
  ],
  [
    "vip-elsewhere",
    defineCheck("whether another host has the virtual address", none, async ({ world, host }) => {
      const found = await whereIsAddress(world);
      if (!found) return yes("the inventory has no setting virtualIp");
      if (found.holders.includes(host.name)) return no(`${host.name} has it`);
      return found.holders.length > 0 ? yes(`${found.holders[0]} has it`) : no("nobody has it");
    }),
  ],
];

/** By its own answer on its own host: a row in the store may be of the process before. */
async function judgeScheduler(world: HostWorld, host: PlaybookHost): Promise<CheckAnswer> {
  const { stdout } = await world.run(host.name, ["systemctl", "show", "-p", "MainPID", "--value", unit], {
    looks: true,
  });
  const pid = Number(stdout.trim());
  if (!pid) return no(`${unit} of ${host.name} does not run`);
  const { schedulers } = await readStatus(world);
  const row = schedulers.find((one) => one.node === host.name && one.pid === pid);
  if (!row) return no(`the scheduler of ${host.name} has not been seen in the store yet`);
  return row.role === "leader" || row.role === "standby"
    ? yes(`the scheduler of ${host.name} is ${row.role}`)
    : no(`the scheduler of ${host.name} is ${row.role}`);
}

/** Undefined where the inventory has no virtual address. Hosts that are down hold nothing. */
async function whereIsAddress(
  world: HostWorld,
): Promise<{ holders: string[]; silent: string[] } | undefined> {
  const schedulers = world.hosts.filter((host) => host.roles.includes("scheduler"));
  const setting = schedulers
    .map((host) => world.setting(host.name, "virtualIp"))
    .find((value) => value !== undefined);
  if (setting === undefined) return undefined;
  const address = String(setting).split("/")[0]!;
  const holders: string[] = [];
  const silent: string[] = [];
  await Promise.all(
    schedulers.map(async ({ name }) => {
      try {
        const { stdout } = await world.run(name, ["ip", "-o", "addr", "show"], {
          looks: true,
          deadlineMs: 15_000,
        });
        if (stdout.includes(` ${address}/`)) holders.push(name);
      } catch {
        silent.push(name);
      }
    }),
  );
  return { holders: holders.sort(), silent: silent.sort() };
}
