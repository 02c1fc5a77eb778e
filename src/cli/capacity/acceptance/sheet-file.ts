/** The part of a sheet's JSON that acceptance needs. */
import { z } from "zod";

export const sheetFileSchema = z.looseObject({
  schemaVersion: z.literal(1),
  pages: z.array(
    z.looseObject({
      name: z.string(),
      requirements: z.array(
        z.looseObject({
          id: z.string(),
          text: z.string(),
          why: z.string(),
          // What was parsed once is written back with its limits resolved.
          accept: z.looseObject({ check: z.string() }),
          limit: z.looseObject({ label: z.string(), value: z.number(), unit: z.string() }).optional(),
        }),
      ),
    }),
  ),
});
