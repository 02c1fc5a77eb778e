/** A host of the cluster as the controller sees it during a run: what it was at the beginning, what it is now. */
import { monotonicMs } from "../../base/monotonic.ts";
import type { DrillHost, HostLook } from "../host/drill-host.ts";
import type { ClusterHost } from "../plan/drilled-cluster.ts";
import type { ReferenceClock } from "./reference-clock.ts";

export interface SeenHost {
  readonly look: HostLook;
  /** The reckoning of the database's time in the middle of the trip. */
  readonly atMs: number;
  /** How wrong a comparison of clocks by this look can be. */
  readonly uncertaintyMs: number;
  /** The host's wall clock minus the reckoning. */
  readonly offsetMs: number;
}

export class WatchedHost {
  readonly host: ClusterHost;
  readonly door: DrillHost;
  #first: SeenHost | undefined;
  #last: SeenHost | undefined;

  constructor(host: ClusterHost, door: DrillHost) {
    this.host = host;
    this.door = door;
  }

  get name(): string {
    return this.host.name;
  }

  get units(): string[] {
    return [...new Set(Object.values(this.host.units))].filter((unit) => unit !== undefined);
  }

  /** The look that a fault is measured against; see {@link settleOnFirst}. */
  get first(): SeenHost | undefined {
    return this.#first;
  }

  get last(): SeenHost | undefined {
    return this.#last;
  }

  /** @throws what the way to the host throws */
  async look(clock: ReferenceClock, paths: readonly string[] = []): Promise<SeenHost> {
    const before = monotonicMs();
    const look = await this.door.look(this.units, paths);
    const after = monotonicMs();
    const atMs = clock.at((before + after) / 2);
    const seen = {
      look,
      atMs,
      uncertaintyMs: Math.max(look.uncertaintyMs, (after - before) / 2),
      offsetMs: look.wallMs - atMs,
    };
    this.#first ??= seen;
    this.#last = seen;
    return seen;
  }

  /** The last look becomes the one that everything later is compared with. */
  settleOnFirst(): void {
    this.#first = this.#last;
  }

  /** When something happened that the host dates by its boot clock, in the reckoning; undefined after a reboot. */
  whenMs(bootMs: number): number | undefined {
    if (!this.#first) return undefined;
    return this.#first.atMs + (bootMs - this.#first.look.bootMs);
  }

  /** What of its units is not as it was; empty when all is. */
  unhealthy(): string[] {
    const [first, last] = [this.#first, this.#last];
    if (!first || !last) return [];
    if (first.look.bootId !== last.look.bootId) return [`${this.name} has rebooted`];
    return this.units.flatMap((unit) => {
      const [was, is] = [first.look.units[unit], last.look.units[unit]];
      if (was?.active !== "active" || is?.active === "active") return [];
      return [`${unit} on ${this.name} is ${is?.active ?? "not there"}`];
    });
  }
}
