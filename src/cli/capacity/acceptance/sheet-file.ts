/** The part of a sheet's JSON that acceptance needs, and what it asks of a role. */
import { readFile } from "node:fs/promises";
import { z } from "zod";
import { EscapementError, messageOf } from "../../../base/errors.ts";
import type { SheetRequirement } from "../../../capacity/procurement/page.ts";

const sheetFileSchema = z.looseObject({
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

export interface SheetPage {
  readonly name: string;
  readonly requirements: readonly SheetRequirement[];
}

/** @throws E_FILE_UNREADABLE, E_BAD_DATA */
export async function readSheetFile(file: string): Promise<readonly SheetPage[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    throw new EscapementError("E_FILE_UNREADABLE", { file, reason: messageOf(error) }, { cause: error });
  }
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch {
    document = undefined;
  }
  const parsed = sheetFileSchema.safeParse(document);
  if (parsed.success) return parsed.data.pages as readonly SheetPage[];
  throw new EscapementError(
    "E_BAD_DATA",
    {
      what: `${file} is not a sheet written by escapement capacity sheet -o FILE.json`,
      hint: "the workbook cannot be read back; write the sheet as .json too",
    },
    { at: file },
  );
}

/** @throws E_BAD_VALUE for a role that the sheet does not have */
export function requirementsOfRole(pages: readonly SheetPage[], role: string): readonly SheetRequirement[] {
  const page = pages.find(({ name }) => name === role);
  if (page) return page.requirements;
  throw new EscapementError("E_BAD_VALUE", {
    option: "--role",
    value: role,
    expected: "a role of the sheet",
    hint: `it has ${pages.map(({ name }) => name).join(", ")}`,
  });
}
