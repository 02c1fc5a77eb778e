/** The scheduler's own row for status screens, refreshed now and then. */
import { monotonicMs } from "../base/monotonic.ts";
import type { SchedulerNode } from "../spec/cluster-definition.ts";
import type { Queryable } from "../store/database.ts";
import { noteScheduler } from "../store/scheduler-row.ts";
import { holdsAddress } from "./virtual-address.ts";

const everyMs = 5_000;

export interface Identity {
  readonly incarnation: string;
  readonly node: SchedulerNode;
  readonly host: string;
  readonly version: string;
  readonly timeZoneData: string;
}

export class SelfNote {
  readonly #db: Queryable;
  readonly #who: Identity;
  readonly #offsetMs: () => number | null;
  readonly #virtualAddress: string | undefined;
  #notedAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    db: Queryable,
    who: Identity,
    offsetMs: () => number | null,
    virtualAddress: string | undefined,
  ) {
    this.#db = db;
    this.#who = who;
    this.#offsetMs = offsetMs;
    this.#virtualAddress = virtualAddress;
  }

  /** The next one is due at once: the role has changed. */
  makeDue(): void {
    this.#notedAtMs = Number.NEGATIVE_INFINITY;
  }

  async refresh(role: "leader" | "standby"): Promise<void> {
    if (monotonicMs() - this.#notedAtMs < everyMs) return;
    await this.write(role);
    this.#notedAtMs = monotonicMs();
  }

  async write(role: "leader" | "standby" | "stopped"): Promise<void> {
    const { incarnation, node, host, version, timeZoneData } = this.#who;
    const http = `${node.http.address}:${node.http.port}`;
    const offsetMs = this.#offsetMs();
    await noteScheduler(this.#db, {
      incarnation,
      node: node.name,
      host,
      pid: process.pid,
      version,
      timeZoneData,
      role,
      http,
      offsetMs,
      holdsVirtualAddress: holdsAddress(this.#virtualAddress),
    });
  }
}
