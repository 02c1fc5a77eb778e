/** The drills of the shipped files, with times that fit a local cluster. */
import type { DrillVariant } from "../../../src/spec/drill-definition.ts";
import { variantOf } from "./drill-scene.ts";

const rules = { allowedFailures: [], refusedStaleWrites: 0, culpritNamed: false };
const executor = { role: "executor", owning: "running-shard" } as const;
const leader = { role: "scheduler-leader" } as const;

export const killExecutor = variantOf({
  name: "kill-executor, kept down",
  target: executor,
  fault: { kind: "kill", restart: "suppressed" },
  hold: { ms: 14_000 },
  proof: [
    { see: "process-gone", from: "target" },
    { see: "lease-ended", from: "records" },
  ],
  pass: { ...rules, takeoverWithinMs: 30_000, restartedWithinMs: 30_000 },
});

export const restartedExecutor = variantOf({
  name: "kill-executor, restarted",
  target: executor,
  fault: { kind: "kill", restart: "allowed" },
  proof: [
    { see: "process-gone", from: "target" },
    { see: "process-gone", from: "controller" },
  ],
  pass: { ...rules, takeoverWithinMs: 30_000, restartedWithinMs: 30_000 },
});

export const cutNetwork = variantOf({
  name: "cut-network, symmetric",
  target: executor,
  fault: { kind: "cut", direction: "both", keep: [] },
  hold: { ms: 14_000 },
  proof: [
    { see: "packets-dropped", from: "target" },
    { see: "unreachable", from: "another-host" },
    { see: "lease-ended", from: "records" },
  ],
  pass: { ...rules, takeoverWithinMs: 30_000 },
});

export const cutAnswers = variantOf({
  ...cutNetwork,
  name: "cut-network, receive only",
  fault: { kind: "cut", direction: "receive", keep: [] },
});

export const stopPrimary = variantOf({
  name: "stop-primary, crash",
  target: leader,
  fault: { kind: "kill", restart: "suppressed" },
  hold: { ms: 14_000 },
  proof: [
    { see: "process-gone", from: "target" },
    { see: "leader-moved", from: "records" },
    { see: "address-moved", from: "another-host" },
  ],
  pass: { ...rules, takeoverWithinMs: 12_000, restartedWithinMs: 30_000 },
});

export const stopPrimaryGracefully = variantOf({
  ...stopPrimary,
  name: "stop-primary, graceful",
  fault: { kind: "stop", restart: "suppressed" },
  proof: [
    { see: "unit-down", from: "target" },
    { see: "leader-moved", from: "records" },
    { see: "address-moved", from: "another-host" },
  ],
});

export const isolatePrimary = variantOf({
  name: "stop-primary, isolated",
  target: leader,
  fault: { kind: "cut", direction: "both", keep: [] },
  hold: { ms: 14_000 },
  proof: [
    { see: "packets-dropped", from: "target" },
    { see: "unreachable", from: "another-host" },
    { see: "leader-moved", from: "records" },
    { see: "address-moved", from: "another-host" },
  ],
  pass: { ...rules, takeoverWithinMs: 12_000 },
});

export const pauseExecutor = variantOf({
  name: "pause-executor",
  target: executor,
  fault: { kind: "pause" },
  hold: { ms: 16_000 },
  proof: [
    { see: "process-stopped", from: "target" },
    { see: "lease-ended", from: "records" },
  ],
  pass: { ...rules, refusedStaleWrites: 1, takeoverWithinMs: 30_000 },
});

export const pausePrimary = variantOf({
  name: "pause-primary",
  target: leader,
  fault: { kind: "pause" },
  hold: { ms: 14_000 },
  proof: [
    { see: "process-stopped", from: "target" },
    { see: "leader-moved", from: "records" },
    { see: "address-moved", from: "another-host" },
  ],
  pass: { ...rules, takeoverWithinMs: 12_000 },
});

function skew(target: DrillVariant["target"], minutes: number): DrillVariant {
  return variantOf({
    name: `skew-clock, ${target.role} ${minutes > 0 ? "ahead" : "behind"}`,
    target,
    fault: { kind: "clock", offsetSeconds: minutes * 60 },
    proof: [
      { see: "clock-offset", from: "target" },
      { see: "clock-offset", from: "controller" },
    ],
    pass: { ...rules, offsetBelowMs: 500, culpritNamed: true },
  });
}

export const skewedExecutor = skew(executor, 5);
export const skewedExecutorBack = skew(executor, -5);
export const skewedLeader = skew(leader, 5);
export const skewedLeaderBack = skew(leader, -5);
