/** A virtual address of a local cluster's schedulers, which nobody really has: it follows health as keepalived's does. */
import type { ProcessCluster } from "../../../src/lab/process-cluster.ts";
import type { ProcessDrillHost } from "./process-drill-host.ts";

export class FloatingAddress {
  readonly address = "192.0.2.100";
  readonly #cluster: ProcessCluster;
  #holder: string | undefined;
  /** True: it stays where it is, whatever becomes of that host. */
  stuck = false;

  constructor(cluster: ProcessCluster, doors: ReadonlyMap<string, ProcessDrillHost>) {
    this.#cluster = cluster;
    for (const [name, door] of doors)
      door.addresses = () => (this.#whereNow() === name ? [this.address] : []);
  }

  /** Puts it on the leader's host. */
  async settle(): Promise<void> {
    this.#holder = (await this.#cluster.leader())?.node;
  }

  #whereNow(): string | undefined {
    const healthy = this.#cluster.schedulers.filter(
      ({ state, proxy }) => state === "running" && proxy.state === "open",
    );
    const goesOn = this.stuck || healthy.some(({ name }) => name === this.#holder);
    if (!goesOn && healthy[0]) this.#holder = healthy[0].name;
    return this.#holder;
  }
}
