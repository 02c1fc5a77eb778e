/**
 * How long an execution takes from its first shard to its last: greedy dispatch
 * of shards to slots, as executors claim them, optionally with one node lost.
 */
import { type Random, seeded } from "../random.ts";
import { quantile } from "../statistics.ts";

export interface MakespanInput {
  /** Mean work of one shard in order of dispatch, without overhead, ms. */
  readonly shardMs: readonly number[];
  readonly nodes: number;
  /** Shards a node runs at a time. */
  readonly slotsPerNode: number;
  /** Added to every shard, ms. */
  readonly overheadMs: number;
  /** Coefficient of variation of the time of one shard around its mean. */
  readonly spread: number;
  /** How long a lost node's shards stay claimed before another node takes them, ms. */
  readonly takeoverMs: number;
  readonly seed: number;
  readonly trials: number;
}

export interface Makespan {
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** 95 % of the trials in which one node dies at a random moment of the run end before this; absent with one node. */
  readonly oneNodeLostP95Ms?: number;
}

/** Simulates; the same input gives the same answer. */
export function simulateMakespan(input: MakespanInput): Makespan {
  const random = seeded(input.seed);
  const healthy: number[] = [];
  const lossy: number[] = [];
  for (let trial = 0; trial < input.trials; trial++) {
    const times = drawTimes(input, random);
    const whole = run(times, input, undefined);
    healthy.push(whole);
    if (input.nodes > 1) lossy.push(run(times, input, random.next() * whole));
  }
  return {
    p50Ms: quantile(healthy, 0.5),
    p95Ms: quantile(healthy, 0.95),
    ...(input.nodes > 1 && { oneNodeLostP95Ms: quantile(lossy, 0.95) }),
  };
}

/** Log-normal around each mean, scaled so that the total work is what was asked for. */
function drawTimes({ shardMs, spread, overheadMs }: MakespanInput, random: Random): number[] {
  const sigma = Math.sqrt(Math.log(1 + spread ** 2));
  const raw = shardMs.map((mean) => mean * Math.exp(sigma * random.normal() - sigma ** 2 / 2));
  const wanted = sum(shardMs);
  const scale = wanted === 0 ? 1 : wanted / sum(raw);
  return raw.map((ms) => ms * scale + overheadMs);
}

/**
 * One run. Slots take the next shard as soon as they are free. When node 0 dies
 * at `lossAtMs`, its slots stop, and what they were running is dispatched again
 * `takeoverMs` later, from the beginning.
 */
function run(times: readonly number[], input: MakespanInput, lossAtMs: number | undefined): number {
  const { nodes, slotsPerNode, takeoverMs } = input;
  // Free slots go first, in order: those that not even a lost node's shards would reach are left out.
  const heap = new SlotHeap(Math.min(nodes * slotsPerNode, times.length + 2 * slotsPerNode));
  const again: { readyMs: number; ms: number }[] = [];
  let next = 0;
  let end = 0;
  while (next < times.length || again.length > 0) {
    const slot = heap.peekSlot();
    const now = heap.peekTime();
    const onLostNode = lossAtMs !== undefined && slot < slotsPerNode;
    if (onLostNode && now >= lossAtMs) {
      heap.pop();
      continue;
    }
    let startMs = now;
    let ms: number;
    const due = again[0];
    if (due && (due.readyMs <= now || next >= times.length)) {
      again.shift();
      startMs = Math.max(now, due.readyMs);
      ms = due.ms;
    } else {
      ms = times[next++]!;
    }
    const finishMs = startMs + ms;
    if (onLostNode && finishMs > lossAtMs) {
      again.push({ readyMs: lossAtMs + takeoverMs, ms });
      heap.pop();
      continue;
    }
    end = Math.max(end, finishMs);
    heap.replaceTop(finishMs);
  }
  return end;
}

/** Binary heap of slots by the time at which each is free; ties by slot number. */
class SlotHeap {
  readonly #times: number[];
  readonly #slots: number[];

  constructor(size: number) {
    this.#times = new Array<number>(size).fill(0);
    this.#slots = Array.from({ length: size }, (_, slot) => slot);
  }

  peekTime(): number {
    return this.#times[0]!;
  }

  peekSlot(): number {
    return this.#slots[0]!;
  }

  replaceTop(time: number): void {
    this.#times[0] = time;
    this.#sink();
  }

  pop(): void {
    const time = this.#times.pop()!;
    const slot = this.#slots.pop()!;
    if (this.#times.length === 0) throw new RangeError("no slot is left");
    this.#times[0] = time;
    this.#slots[0] = slot;
    this.#sink();
  }

  #before(a: number, b: number): boolean {
    return (
      this.#times[a]! < this.#times[b]! ||
      (this.#times[a] === this.#times[b] && this.#slots[a]! < this.#slots[b]!)
    );
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      let least = at;
      for (const child of [2 * at + 1, 2 * at + 2]) {
        if (child < this.#times.length && this.#before(child, least)) least = child;
      }
      if (least === at) return;
      [this.#times[at], this.#times[least]] = [this.#times[least]!, this.#times[at]!];
      [this.#slots[at], this.#slots[least]] = [this.#slots[least]!, this.#slots[at]!];
      at = least;
    }
  }
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
