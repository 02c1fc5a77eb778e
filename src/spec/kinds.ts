/**
 * Every kind of document. To add one: write its schema (with `apiVersion`,
 * `kind`, `metadata` from envelope-schema.ts and a strict `spec`), add a line
 * here, and run `escapement jobs schema -o docs/schema`.
 */
import type { z } from "zod";
import { catalogueSchema } from "./catalogue-schema.ts";
import { clusterSchema } from "./cluster-schema.ts";
import { drillScheduleSchema } from "./drill-schedule-schema.ts";
import { drillSchema } from "./drill-schema.ts";
import { hostProfileSchema } from "./host-profile-schema.ts";
import { inventorySchema } from "./inventory-schema.ts";
import { jobSchema, policySetSchema } from "./job-schema.ts";
import { playbookSchema } from "./playbook-schema.ts";
import { procurementSchema } from "./procurement-schema.ts";
import { waiversSchema } from "./waiver-schema.ts";
import { watchSchema } from "./watch-schema.ts";
import { workloadSchema } from "./workload-schema.ts";

/** What the loader knows of a kind. */
export type KindSchema = z.ZodType<{
  kind: string;
  metadata: { name: string; namespace?: string | undefined };
}>;

export const kinds = {
  Job: jobSchema,
  PolicySet: policySetSchema,
  Cluster: clusterSchema,
  Workload: workloadSchema,
  Catalogue: catalogueSchema,
  ProcurementSheet: procurementSchema,
  Inventory: inventorySchema,
  HostProfile: hostProfileSchema,
  Playbook: playbookSchema,
  Watch: watchSchema,
  Drill: drillSchema,
  DrillSchedule: drillScheduleSchema,
  Waivers: waiversSchema,
} as const satisfies Record<string, KindSchema>;

export type Kind = keyof typeof kinds;

/** The parsed document of one kind. */
export type DocumentOf<K extends Kind> = z.output<(typeof kinds)[K]>;

export const kindNames = Object.keys(kinds) as Kind[];

export function isKind(name: unknown): name is Kind {
  return typeof name === "string" && Object.hasOwn(kinds, name);
}
