/** Every variant of every drill that comes with the program, and how to run it within seconds. */
import { fileURLToPath } from "node:url";
import { findingClasses } from "../../../src/chaos/checkers/finding.ts";
import type { DrillDefinition, DrillVariant } from "../../../src/spec/drill-definition.ts";
import { loadDrills } from "../../../src/spec/resolve-drill.ts";

export interface ShippedVariant {
  /** `kill-executor/kept-down`. */
  readonly title: string;
  readonly definition: DrillDefinition;
  readonly variant: DrillVariant;
}

const folder = fileURLToPath(new URL("../../../chaos", import.meta.url));

/** In the order of their files. */
export async function shippedVariants(): Promise<readonly ShippedVariant[]> {
  const { drills, problems } = await loadDrills([folder], Object.keys(findingClasses));
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  return drills.flatMap(({ definition }) =>
    definition.variants.map((variant) => ({
      title: `${definition.name}/${variant.name}`,
      definition,
      variant,
    })),
  );
}

/** The same fault on the same target, over before it is noticed. */
export function briefly({ title, definition, variant }: ShippedVariant): ShippedVariant {
  const brief: DrillVariant = { ...variant, hold: { ms: 2_000 }, limitAfterHoldMs: 5_000 };
  return {
    title,
    variant: brief,
    definition: {
      ...definition,
      steadyState: { ...definition.steadyState, noCriticalAlerts: false },
      load: { jobs: 1, everyMs: 1_000, shards: 2, shardMs: 700, obligations: 1 },
      settle: { minimumMs: 500, quietReads: 2, readEveryMs: 200, deadlineMs: 120_000 },
      variants: [brief],
    },
  };
}
