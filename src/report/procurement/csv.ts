/** The bill of materials as CSV, for a purchasing system. */
import type { Sheet } from "../../capacity/procurement/sheet.ts";
import { csvText } from "../csv.ts";

export function procurementCsv(sheet: Sheet): string {
  const header = [
    "role",
    "machines",
    "part_id",
    "part",
    "pieces_each",
    "pieces",
    "price_each",
    "total",
    "currency",
    "watts_each",
    "why",
    "price_source",
    "price_date",
  ];
  const rows = sheet.pages.flatMap((page) =>
    page.configuration.lines.map(({ part, quantity, why }) => {
      const pieces = quantity * page.machines.value;
      return [
        page.name,
        page.machines.value,
        part.id,
        part.title,
        quantity,
        pieces,
        part.price.amount,
        pieces * part.price.amount,
        sheet.catalogue.currency,
        part.watts,
        why,
        part.price.source,
        part.price.date,
      ];
    }),
  );
  return csvText([header, ...rows]);
}
