/** Every item of the checklist, by number. One file an item, in items/. */
import type { CheckContext } from "./context.ts";
import type { ChecklistItem } from "./item.ts";
import { uniqueConstraint } from "./items/01-unique-constraint.ts";
import { blockingPolicy } from "./items/03-blocking-policy.ts";
import { misfirePolicy } from "./items/04-misfire-policy.ts";
import { catchUpCaps } from "./items/05-catch-up-caps.ts";

export const checklistItems: readonly ChecklistItem<CheckContext>[] = [
  uniqueConstraint,
  blockingPolicy,
  misfirePolicy,
  catchUpCaps,
];
