/** The procurement sheet as a workbook: summary, inputs, storage, disk load, one page a role, bill. */
import type { Sheet } from "../../capacity/procurement/sheet.ts";
import { computed, headings, PageBuilder, text, type Workbook, type WorkbookPage } from "../workbook.ts";
import { billPage } from "./bill-page.ts";
import { diskLoadPage } from "./disk-load-page.ts";
import { inputsPage } from "./inputs-page.ts";
import { type RoleSheetPage, rolePage } from "./role-page.ts";
import { storagePage } from "./storage-page.ts";

export function procurementWorkbook(sheet: Sheet): Workbook {
  const inputs = inputsPage(sheet);
  const storage = storagePage(sheet, inputs);
  const roles = sheet.pages.map((page) => rolePage(sheet, page));
  const pieces = new Map<string, string[]>();
  for (const role of roles)
    for (const [part, formula] of role.pieces) pieces.set(part, [...(pieces.get(part) ?? []), formula]);
  const bill = billPage(sheet, pieces);
  const pages = [
    summaryPage(sheet, roles, bill.total, storage.needed),
    inputs.page,
    storage.page,
    diskLoadPage(sheet, inputs),
    ...roles.map(({ page }) => page),
    bill.page,
  ];
  return { pages };
}

function summaryPage(
  sheet: Sheet,
  roles: readonly RoleSheetPage[],
  billTotal: string,
  diskNeeded: string,
): WorkbookPage {
  const { currency } = sheet.catalogue;
  const builder = new PageBuilder("Summary", [40, 14, 18, 14, 14, 60]);
  builder.row(text("What to order", "title"));
  builder.row(
    text(
      `For workload ${sheet.workload.name} (${sheet.workload.origin}), from catalogue ${sheet.catalogue.name}, ${sheet.date}.`,
      "note",
      6,
    ),
  );
  builder.gap();
  builder.row(
    ...headings(["role", "machines", `price, ${currency}`, "watts", "rack units", "what for"], [1, 2, 3, 4]),
  );
  const first = builder.next;
  sheet.pages.forEach((page, i) => {
    const role = roles[i]!;
    const count = page.machines.value;
    const { price, watts, rackUnits } = page.configuration;
    builder.row(
      text(page.title),
      computed(role.machines, count, "whole"),
      computed(role.price, count * price, "money"),
      computed(role.watts, count * watts, "whole"),
      computed(role.rackUnits, count * rackUnits, "whole"),
      text(page.purpose, "note"),
    );
  });
  const last = builder.next - 1;
  const sum = (column: string, value: number, format: "whole" | "money") =>
    computed(`SUM(${column}${first}:${column}${last})`, value, format, "total");
  const { machines, price, watts, rackUnits } = sheet.totals;
  const total = builder.row(
    text("Total", "total"),
    sum("B", machines, "whole"),
    sum("C", price, "money"),
    sum("D", watts, "whole"),
    sum("E", rackUnits, "whole"),
  );
  builder.row(
    text("bill of materials agrees"),
    computed(`IF(ABS(C${total}-${billTotal})<0.005,"yes","no")`, "yes", "decimal", "good"),
  );
  builder.row(
    text("disk of the record store, usable"),
    computed(diskNeeded, sheet.storage.figures.needed!.value, "gigabytes"),
  );
  builder.gap();
  for (const note of sheet.notes) builder.row(text(note, "note", 6));
  return builder.build();
}
