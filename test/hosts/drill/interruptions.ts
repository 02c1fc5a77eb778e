/** What is killed when, in drills on hosts: every stage of every shipped fault, then whatever chance draws. */
import { isDeepStrictEqual } from "node:util";
import type { DrillOrder } from "../../../src/chaos/host/drill-host.ts";
import { draftOrder } from "../../../src/chaos/plan/drill-order.ts";
import type { DrillVariant } from "../../../src/spec/drill-definition.ts";
import { shippedVariants } from "../../chaos/drill/shipped-variants.ts";
import { SeededRandom } from "../../chaos/seeded-random.ts";
import { victim } from "./staged-host.ts";

export type Killed =
  | "connection"
  | "run"
  | "keeper"
  | "run and keeper"
  | "everything"
  | "everything, again and again";
export const stages = ["begin", "armed", "injected", "holding", "restored"] as const;
export type Stage = (typeof stages)[number];

export interface Interruption {
  readonly number: number;
  readonly fault: Omit<DrillOrder, "run" | "host" | "bootId" | "holdSeconds" | "limitSeconds">;
  readonly killed: Killed;
  readonly stage: Stage;
  readonly afterMs: number;
}

const faults: readonly Interruption["fault"][] = [
  { fault: "kill", unit: victim, keepDown: true },
  { fault: "kill", unit: victim },
  { fault: "stop", unit: victim, keepDown: true },
  { fault: "pause", unit: victim },
  { fault: "cut" },
  { fault: "cut", direction: "receive" },
  { fault: "clock", offsetSeconds: 300 },
  { fault: "fill-disk", path: "/srv/fill", reserveBytes: 2 << 20 },
  { fault: "memory-limit", unit: victim, limitBytes: 64 << 20 },
];

/** What the drills that come with the program ask of a host, each order once, on what this host has. */
const shipped: readonly Interruption["fault"][] = (await shippedVariants()).flatMap(
  ({ variant }, nth, every) => {
    const one = orderOf(variant);
    const isFirst = every.findIndex((other) => isDeepStrictEqual(orderOf(other.variant), one)) === nth;
    return isFirst ? [one] : [];
  },
);

function orderOf(variant: DrillVariant): Interruption["fault"] {
  const times = { holdMs: 1_000, limitMs: 3_000, settleMs: 0, expectedMs: 0 };
  const target = { host: "", part: "executor", unit: victim } as const;
  const { host: _, holdSeconds: __, limitSeconds: ___, ...fault } = draftOrder(variant, target, times, []);
  if (fault.fault === "fill-disk") return { ...fault, path: "/srv/fill", reserveBytes: 2 << 20 };
  // Who skews which host makes no difference to that host.
  return fault.fault === "clock" ? { fault: "clock", offsetSeconds: fault.offsetSeconds! } : fault;
}

/** The controller goes at each stage of each of them. */
export const planned: readonly Interruption[] = shipped
  .flatMap((fault) => stages.map((stage) => ({ fault, stage, killed: "connection" as const, afterMs: 0 })))
  .map((one, number) => ({ number, ...one }));

/** The first ones are planned; what follows is drawn from the seed. */
export function interruption(number: number, seed: number): Interruption {
  const byPlan = planned[number];
  if (byPlan) return byPlan;
  const random = new SeededRandom(seed + number * 7_919);
  return {
    number,
    fault: random.pick(faults),
    killed: random.pick<Killed>([
      ...(["connection", "run", "keeper", "run and keeper"] as const),
      ...(["everything", "everything, again and again"] as const),
    ]),
    stage: random.pick<Stage>(["begin", "begin", "armed", "injected", "holding", "restored"]),
    afterMs: random.pick([0, random.between(0, 60), random.between(0, 700)]),
  };
}
