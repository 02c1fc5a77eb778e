/**
 * The drills that come with the program, with the times of a test: the same
 * faults, proofs and rules, held no longer than a cluster needs to notice.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "yaml";

interface Timed {
  pass?: Record<string, unknown>;
  hold?: { for?: string; times?: number; of?: string; atLeast?: string };
}

interface DrillFile {
  kind: string;
  metadata: { name: string };
  spec: Timed & {
    load?: Record<string, unknown>;
    settle?: Record<string, unknown>;
    variants?: Timed[];
  };
}

/** Work and holds of the copies. */
export interface Pace {
  readonly load: Record<string, unknown>;
  /** Past the lease of the cluster (15 s) and the next look for the dead (3 s), on a slow machine. */
  readonly noticed: string;
  /** Long enough for the fires that are asked for. */
  readonly seen: string;
  /** Of a fire, where the start of a program alone takes a good part of the drill's own limit. */
  readonly startWithin?: string;
  /** Leases of the cluster, where those of the profiles are too short for its hosts. */
  readonly lease?: string;
}

/** Less work at once, but hardly ever none: the fault hits an attempt however late it arrives. */
const light: Pace = { load: { shards: 3, shardDuration: "4s" }, noticed: "27s", seen: "22s" };

/** For a cluster of emulated machines, where the start of an attempt alone takes seconds. */
export const lightest: Pace = {
  load: { jobs: 2, every: "30s", shards: 1, shardDuration: "6s", obligations: 5 },
  noticed: "100s",
  seen: "95s",
  startWithin: "3m",
  lease: "45s",
};

/** Writes a copy of every drill in `from` to `to`. */
export function writeBriefDrills(from: string, to: string, pace = light): void {
  for (const name of readdirSync(from)) {
    const file = parse(readFileSync(join(from, name), "utf8")) as DrillFile;
    if (file.kind !== "Drill") continue;
    const { spec } = file;
    spec.pass ??= {};
    for (const timed of [spec, ...(spec.variants ?? [])]) shorten(timed, file.metadata.name, pace);
    spec.load = { ...spec.load, ...pace.load };
    // Where leases, or twice a cut, want more, the drill itself takes more.
    spec.settle = { ...spec.settle, minimum: "5s", readEvery: "1s" };
    writeFileSync(join(to, name), stringify(file));
  }
}

/** Where a machine is shared by a whole cluster, and by other tests. */
const onABusyMachine = "2m";

function shorten(timed: Timed, drill: string, pace: Pace): void {
  const { hold, pass } = timed;
  for (const within of ["takeoverWithin", "restartedWithin"])
    if (pass?.[within] !== undefined) pass[within] = onABusyMachine;
  // Rules of a variant take the place of the drill's own, all of them.
  if (pass !== undefined && pace.startWithin !== undefined) pass.startWithin = pace.startWithin;
  // Half a minute without network is what that drill is about.
  if (hold === undefined || (drill === "cut-network" && pace === light)) return;
  timed.hold = hold.times === undefined ? { for: pace.seen } : { ...hold, times: 1, atLeast: pace.noticed };
}
