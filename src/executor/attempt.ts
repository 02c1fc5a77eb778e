/**
 * One try at one shard, as this executor sees it.
 *
 *   claimed ──▶ starting ──▶ running ──▶ ended ──▶ written (accepted or refused)
 */
import { randomBytes } from "node:crypto";
import { monotonicMs } from "../base/monotonic.ts";
import type { JobDefinition, ResourceClass } from "../spec/job-definition.ts";
import type { ClaimedShard } from "../store/claim.ts";
import type { WorkOrder } from "../store/work-order.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";

/**
 * Why we ended it, if we did: a person or a policy cancelled it, we are asked to
 * stop, our lease is lost, the store says it is someone else's, or our
 * supervisor died.
 */
export type EndIntent = "cancel" | "drain" | "lease-lost" | "not-held" | "supervisor-lost";

/** What a freezing step has printed may not grow beyond this. */
const longestCapture = 64 << 20;

export class Attempt {
  /** Names it to the supervisor; unique in this process. */
  readonly id: number;
  readonly claim: ClaimedShard;
  readonly order: WorkOrder;
  readonly lease: LeaseKeeper;
  /** What its process must show at the socket. */
  readonly capability = randomBytes(18).toString("base64url");
  readonly claimedAtMs = monotonicMs();
  /** Of its process group, once started. */
  pid: number | undefined;
  intent: EndIntent | undefined;
  /** As last reported; null: never. */
  rows: number | null = null;
  #output: string[] = [];
  #outputLength = 0;

  constructor(id: number, claim: ClaimedShard, order: WorkOrder, lease: LeaseKeeper) {
    this.id = id;
    this.claim = claim;
    this.order = order;
    this.lease = lease;
  }

  get definition(): JobDefinition {
    return this.order.definition;
  }

  get job(): string {
    const { namespace, name } = this.order.definition;
    return `${namespace}/${name}`;
  }

  get class(): ResourceClass {
    return this.order.definition.resources.class;
  }

  /** The step that freezes the input. */
  get freezes(): boolean {
    return this.claim.shardNo === -1;
  }

  get continuesFenced(): boolean {
    return this.order.definition.onStoreLoss === "continue-fenced";
  }

  /** When its process must be dead unless the lease is renewed; null: the fence alone judges it. */
  get deadlineMs(): number | null {
    return this.continuesFenced ? null : this.lease.deadlineFor(this.definition.leaseMs);
  }

  /** Names it in log lines. */
  get fields(): Record<string, unknown> {
    const { fireTime, shardNo, attempt, fenceToken } = this.claim;
    return { job: this.job, fireTime: fireTime.toISOString(), shard: shardNo, attempt, fenceToken };
  }

  capture(text: string): void {
    this.#outputLength += text.length;
    if (this.#outputLength <= longestCapture) this.#output.push(text);
  }

  /** What it printed, or undefined when it was too much. */
  get output(): string | undefined {
    return this.#outputLength > longestCapture ? undefined : this.#output.join("");
  }
}
