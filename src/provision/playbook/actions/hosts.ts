/** Actions and checks on single hosts: access, toolkit, profile, units. */
import { z } from "zod";
import { EscapementError } from "../../../base/errors.ts";
import { deploy, rollbackDeployment } from "../../deploy/deploy.ts";
import type { HostWorld } from "../host-world.ts";
import {
  type ActionEntry,
  type CheckEntry,
  defineAction,
  defineCheck,
  no,
  type StepContext,
  unknown,
  yes,
} from "../registry.ts";

const none = z.strictObject({});
const unitArgs = z.strictObject({
  unit: z.string().regex(/^[\w@:.-]+\.(service|timer|target|socket|mount)$/),
});
/** An executor gives its children their grace time before it ends. */
const unitDeadlineMs = 180_000;

export const hostActions: readonly (readonly [string, ActionEntry<HostWorld>])[] = [
  [
    "check-access",
    defineAction(
      "logs in and becomes root, so that a host that cannot be reached is known first",
      none,
      async ({ world, host }) => {
        const { exitCode, stdout, stderr } = await world.run(host.name, ["id", "-u"], { looks: true });
        if (exitCode === 0 && stdout.trim() === "0") return "reached, as root";
        throw new EscapementError("E_REFUSED", {
          what: `${host.name}: no root there: ${stderr.trim() || stdout.trim()}`,
          hint: "log in as root, or let sudo of that user run without a question or with sudoPasswordFile",
        });
      },
    ),
  ],
  [
    "deploy-toolkit",
    defineAction(
      "brings this very toolkit to the host, with its Node",
      none,
      async ({ world, host, signal }) => {
        const result = await deploy(await world.remote(host.name), await world.release(), { signal });
        return result.changed
          ? `${result.version}, ${Math.round(result.uploadedBytes / 1e6)} MB uploaded`
          : `${result.version} was there`;
      },
    ),
  ],
  [
    "rollback-toolkit",
    defineAction("takes the host from this toolkit back to the version before", none, leaveThisVersion),
  ],
  [
    "apply-profile",
    defineAction("applies the host's profile", none, async ({ world, host, signal }) => {
      const state = await world.profiles.apply(host.name, await world.remote(host.name), signal);
      return `${state.changes} change(s)${state.pendingRestarts > 0 ? `, ${state.pendingRestarts} restart(s) still due` : ""}`;
    }),
  ],
  ["start-unit", unitAction("starts and enables a unit", ["enable", "--now"])],
  ["restart-unit", unitAction("restarts a unit", ["restart"])],
  ["stop-unit", unitAction("stops and disables a unit", ["disable", "--now"])],
  [
    "rollback-unit",
    defineAction(
      "takes the host from this toolkit back to the version before, and restarts a unit",
      unitArgs,
      async (context, args) => {
        const note = await leaveThisVersion(context);
        return `${note}, ${await systemctl(context, ["restart"], args.unit)}`;
      },
    ),
  ],
];

/** Only from this very version: done twice, it must not come back to it. */
export async function leaveThisVersion({ world, host }: StepContext<HostWorld>): Promise<string> {
  const { version } = await world.release();
  const found = await currentVersion(world, host.name);
  if (found !== version) return `was on ${found === "" ? "none" : found}`;
  const { stdout } = await world.run(host.name, ["readlink", "/opt/escapement/previous"], { looks: true });
  if (stdout.trim() === "") return "left: there is no version before";
  return `back to ${(await rollbackDeployment(await world.remote(host.name))).version}`;
}

/** Empty where the host has no toolkit. */
async function currentVersion(world: HostWorld, host: string): Promise<string> {
  const { stdout } = await world.run(host, ["readlink", "/opt/escapement/current"], { looks: true });
  return stdout.trim().split("/").at(-1) ?? "";
}

function unitAction(summary: string, verb: readonly string[]): ActionEntry<HostWorld> {
  return defineAction(summary, unitArgs, (context, { unit }) => systemctl(context, verb, unit));
}

async function systemctl(
  { world, host }: StepContext<HostWorld>,
  verb: readonly string[],
  unit: string,
): Promise<string> {
  const { exitCode, stderr } = await world.run(host.name, ["systemctl", ...verb, unit], {
    deadlineMs: unitDeadlineMs,
  });
  if (exitCode === 0) return `${verb[0]} ${unit}`;
  throw new EscapementError("E_REFUSED", {
    what: `${host.name}: systemctl ${verb.join(" ")} ${unit}: ${stderr.trim().split("\n")[0] ?? `exit ${exitCode}`}`,
    hint: `on the host, journalctl -u ${unit} says why`,
  });
}

/** Which release the main process of a unit was started from. */
const runningVersion = `pid=$(systemctl show -p MainPID --value "$1")
[ "\${pid:-0}" != 0 ] || { echo none; exit 0; }
exe=$(readlink "/proc/$pid/exe") && echo "\${exe%/*}"
readlink -f /opt/escapement/current`;

export const hostChecks: readonly (readonly [string, CheckEntry<HostWorld>])[] = [
  [
    "toolkit-current",
    defineCheck("whether the host has this very toolkit", none, async ({ world, host }) => {
      const { version } = await world.release();
      const found = await currentVersion(world, host.name);
      if (found === version) {
        const command = ["test", "-x", "/usr/local/bin/escapement"];
        const { exitCode } = await world.run(host.name, command, { looks: true });
        return exitCode === 0 ? yes(`it has ${version}`) : no(`it has ${version} without ${command[2]}`);
      }
      return no(found === "" ? "it has no toolkit" : `it has ${found}`);
    }),
  ],
  [
    "profile-applied",
    defineCheck("whether a plan of the host is empty", none, async ({ world, host }) => {
      const state = await world.profiles.plan(host.name, await world.remote(host.name));
      // Applied and not confirmed looks right, and is put back in a moment.
      if (state.unfinished.length > 0) return no(`transaction ${state.unfinished[0]} is not confirmed`);
      if (state.changes > 0) return no(`${state.changes} change(s) to make`);
      if (state.pendingRestarts > 0) return no(`${state.pendingRestarts} restart(s) due`);
      const unjudged = state.unknowns.length > 0 ? [`${state.unknowns.length} not judged`] : [];
      // No playbook can wait for it: nobody but a person makes it.
      const left = state.leftToOthers.length > 0 ? [`left to others: ${state.leftToOthers.join(", ")}`] : [];
      return yes(["no changes", ...unjudged, ...left].join("; "));
    }),
  ],
  [
    "unit-active",
    defineCheck("whether a unit runs", unitArgs, async ({ world, host }, { unit }) => {
      const { stdout } = await world.run(host.name, ["systemctl", "is-active", unit], { looks: true });
      const state = stdout.trim();
      if (state === "active") return yes(`${unit} is active`);
      return state === "" ? unknown(`systemctl did not say what ${unit} is`) : no(`${unit} is ${state}`);
    }),
  ],
  [
    "unit-stopped",
    defineCheck(
      "whether a unit neither runs nor starts by itself",
      unitArgs,
      async ({ world, host }, { unit }) => {
        const { stdout } = await world.run(
          host.name,
          ["sh", "-c", 'systemctl is-active "$1"; systemctl is-enabled "$1"', "sh", unit],
          { looks: true },
        );
        const [active = "", enabled = ""] = stdout.trim().split("\n");
        return ["inactive", "failed", "unknown"].includes(active) && enabled !== "enabled"
          ? yes(`${unit} is ${active} and ${enabled || "not there"}`)
          : no(`${unit} is ${active} and ${enabled}`);
      },
    ),
  ],
  [
    "unit-on-current-toolkit",
    defineCheck(
      "whether the running unit was started from the toolkit in use",
      unitArgs,
      async ({ world, host }, { unit }) => {
        const { stdout } = await world.run(host.name, ["sh", "-c", runningVersion, "sh", unit], {
          looks: true,
        });
        const [running, current] = stdout.trim().split("\n");
        if (running === "none") return no(`${unit} does not run`);
        if (!running || !current) return unknown(`where ${unit} runs from could not be read`);
        const version = running.split("/").at(-1);
        return running === current ? yes(`${unit} runs ${version}`) : no(`${unit} still runs ${version}`);
      },
    ),
  ],
];
