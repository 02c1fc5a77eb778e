/** What the time daemon of this very host says of itself: asked by processes that run here, once a minute. */
import { execFile } from "node:child_process";
import { z } from "zod";
import { factValue, isKnown } from "../base/fact.ts";
import { gatherCommands } from "./gather/commands.ts";
import type { Output } from "./output.ts";
import { parseChronyConf } from "./parse/chrony-conf.ts";
import { parseChronycSources } from "./parse/chronyc-sources.ts";
import { parseChronycTracking } from "./parse/chronyc-tracking.ts";

/** As it is written into the record store. Null: not known. */
export const timeSourceSchema = z.object({
  isSynchronized: z.boolean().nullable(),
  stratum: z.number().nullable(),
  /** Of the daemon: `Normal`, `Insert second`, … */
  leap: z.string().nullable(),
  /** How the host takes a leap second: `leapsecmode` of chrony.conf. */
  leapPolicy: z.string().nullable(),
  /** What the daemon believes to be off by. It is a claim, never a measurement. */
  offsetSeconds: z.number().nullable(),
  sources: z.number().nullable(),
  reachable: z.number().nullable(),
  falsetickers: z.array(z.string()),
  /** Why it is not known; null: it is. */
  why: z.string().nullable(),
  /** True when this process has known it before. */
  wasKnown: z.boolean(),
});

export type TimeSource = z.output<typeof timeSourceSchema>;

/** Runs a command and says what it printed; null when there is no such command. */
export type RunCommand = (command: string, args: readonly string[]) => Promise<Output | null>;

const limitMs = 5_000;
const nothing: Output = { text: "", isWhole: false };

export async function askTimeSource(wasKnown: boolean, run: RunCommand = runCommand): Promise<TimeSource> {
  const tracking = await run("chronyc", ["-n", "-c", "tracking"]);
  if (!tracking) return unknownSource("there is no chronyc on this host", wasKnown);
  const facts = parseChronycTracking(tracking);
  if (factValue(facts.running) === false) return unknownSource("chronyd does not answer", wasKnown);
  const isSynchronized = factValue(facts.isSynchronized) ?? null;
  if (isSynchronized === null) return unknownSource("chronyc printed no tracking", wasKnown);
  const sources = parseChronycSources((await run("chronyc", ["-n", "-c", "sources"])) ?? nothing);
  const list = "known" in sources ? sources.known : null;
  const [shell, ...args] = gatherCommands.find(({ name }) => name === "chrony-conf")!.argv;
  const conf = parseChronyConf((await run(shell!, args)) ?? nothing);
  return {
    isSynchronized,
    stratum: factValue(facts.stratum) ?? null,
    leap: factValue(facts.leap) ?? null,
    leapPolicy: isKnown(conf) ? conf.known.leapSecondMode : null,
    offsetSeconds: factValue(facts.offsetSeconds) ?? null,
    sources: list?.length ?? null,
    reachable: list?.filter(({ reach, state }) => reach > 0 && state !== "unreachable").length ?? null,
    falsetickers: list?.filter(({ state }) => state === "falseticker").map(({ name }) => name) ?? [],
    why: list === null ? "chronyc does not list the sources" : null,
    wasKnown: true,
  };
}

export function unknownSource(why: string, wasKnown: boolean): TimeSource {
  return {
    ...{ isSynchronized: null, stratum: null, leap: null, leapPolicy: null, offsetSeconds: null },
    ...{ sources: null, reachable: null, falsetickers: [], why, wasKnown },
  };
}

/** @param signal kills the command, so that it holds up no end of its process */
export function runCommand(
  command: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<Output | null> {
  return new Promise((resolve) => {
    execFile(
      command,
      [...args],
      { timeout: limitMs, env: { ...process.env, LC_ALL: "C" }, ...(signal && { signal }) },
      (error, stdout, stderr) => {
        if ((error as NodeJS.ErrnoException | null)?.code === "ENOENT") return resolve(null);
        // A daemon that does not answer says so on either stream, with a status.
        resolve({ text: error ? `${stdout}${stderr}\n` : stdout, isWhole: error === null });
      },
    );
  });
}
