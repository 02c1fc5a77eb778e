/** Every item, by number. */
import type { CheckContext } from "../context.ts";
import type { ChecklistItem } from "../item.ts";
import { recordStore } from "./00-record-store.ts";
import { uniqueConstraint } from "./01-unique-constraint.ts";
import { triggerAuthority } from "./02-trigger-authority.ts";
import { blockingPolicy } from "./03-blocking-policy.ts";
import { misfirePolicy } from "./04-misfire-policy.ts";
import { catchUpCaps } from "./05-catch-up-caps.ts";
import { idempotentWrites } from "./06-idempotent-writes.ts";
import { leases } from "./07-leases.ts";
import { watchman } from "./08-watchman.ts";
import { timeService } from "./09-time-service.ts";
import { clockOffset } from "./10-clock-offset.ts";
import { executorDrill } from "./11-executor-drill.ts";
import { faultDrills } from "./12-fault-drills.ts";
import { retention } from "./13-retention.ts";
import { peakDuration } from "./14-peak-duration.ts";

export const checklistItems: readonly ChecklistItem<CheckContext>[] = [
  recordStore,
  uniqueConstraint,
  triggerAuthority,
  blockingPolicy,
  misfirePolicy,
  catchUpCaps,
  idempotentWrites,
  leases,
  watchman,
  timeService,
  clockOffset,
  executorDrill,
  faultDrills,
  retention,
  peakDuration,
];
