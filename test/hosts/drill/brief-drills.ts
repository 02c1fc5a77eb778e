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

/** Past the lease of the cluster (15 s) and the next look for the dead (3 s), on a slow machine. */
const noticed = "27s";
/** Long enough for twice the fires that are asked for. */
const seen = "22s";

/** Less work at once, but hardly ever none: the fault hits an attempt however late it arrives. */
const light = { shards: 3, shardDuration: "4s" };

/** For a cluster of emulated machines, where the start of an attempt alone takes seconds. */
export const lightest = { jobs: 1, every: "10s", shards: 3, shardDuration: "8s", obligations: 2 };

/** Writes a copy of every drill in `from` to `to`. */
export function writeBriefDrills(from: string, to: string, load: Record<string, unknown> = light): void {
  for (const name of readdirSync(from)) {
    const file = parse(readFileSync(join(from, name), "utf8")) as DrillFile;
    if (file.kind !== "Drill") continue;
    const { spec } = file;
    for (const timed of [spec, ...(spec.variants ?? [])]) shorten(timed, file.metadata.name);
    spec.load = { ...spec.load, ...load };
    // Where leases, or twice a cut, want more, the drill itself takes more.
    spec.settle = { ...spec.settle, minimum: "5s", readEvery: "1s" };
    writeFileSync(join(to, name), stringify(file));
  }
}

/** Where a machine is shared by a whole cluster, and by other tests. */
const onABusyMachine = "2m";

function shorten(timed: Timed, drill: string): void {
  const { hold, pass } = timed;
  for (const within of ["takeoverWithin", "restartedWithin"])
    if (pass?.[within] !== undefined) pass[within] = onABusyMachine;
  // Half a minute without network is what that drill is about.
  if (hold === undefined || drill === "cut-network") return;
  timed.hold = hold.times === undefined ? { for: seen } : { ...hold, times: 1, atLeast: noticed };
}
