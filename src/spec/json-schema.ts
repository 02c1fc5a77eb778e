/** JSON Schema of every kind, for editors that complete and check while one types. */
import { z } from "zod";
import { type Kind, kinds } from "./kinds.ts";
import { requiredPolicies } from "./required-policies.ts";

type JsonSchema = Record<string, unknown>;

/** The schema of what is written in a file (draft 2020-12). */
export function jsonSchemaOf(kind: Kind): JsonSchema {
  const schema = z.toJSONSchema(kinds[kind] as z.ZodType, {
    io: "input",
    unrepresentable: "any",
  }) as JsonSchema;
  const titled = { $schema: schema.$schema, title: `escapement ${kind}`, ...schema };
  if (kind === "Job") {
    const { spec } = schema.properties as { spec: JsonSchema };
    // Without a policy set, every policy must stand in the job itself.
    spec.anyOf = [{ required: ["policySet"] }, { required: requiredPolicies.map(({ field }) => field) }];
  }
  return titled;
}

/** The name of the file that a kind's schema is kept in. */
export function jsonSchemaFile(kind: Kind): string {
  return `${kind.replace(/(?<=[a-z])(?=[A-Z])/g, "-").toLowerCase()}.json`;
}

/** The text of that file. */
export function jsonSchemaText(kind: Kind): string {
  return `${JSON.stringify(jsonSchemaOf(kind), null, 2)}\n`;
}
