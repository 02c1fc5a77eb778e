/** The workbook's bill of materials: prices are kept here, quantities follow from the role pages. */

import type { Sheet } from "../../capacity/procurement/sheet.ts";
import type { Part } from "../../spec/catalogue-schema.ts";
import { computed, headings, input, PageBuilder, text, type WorkbookPage } from "../workbook.ts";

export const billName = "Bill";
const firstRow = 4;

/** Address of a part's price, for the pages of the roles. */
export function priceAddress(sheet: Sheet, part: Part): string {
  const row = firstRow + sheet.bill.findIndex((line) => line.part.id === part.id);
  return new PageBuilder(billName, []).address(row, 3);
}

export interface BillPage {
  readonly page: WorkbookPage;
  readonly total: string;
}

/** @param piecesOf for each part the addresses of "pieces of it in a role's machines", to be added up */
export function billPage(sheet: Sheet, piecesOf: ReadonlyMap<string, readonly string[]>): BillPage {
  const { currency } = sheet.catalogue;
  const builder = new PageBuilder(billName, [46, 18, 11, 14, 16, 30, 26, 14], 3);
  builder.row(text("Bill of materials", "title"));
  builder.row(
    text(
      `Prices in ${currency}, from catalogue ${sheet.catalogue.name}. Put the quote's price into the blue cells.`,
      "note",
      8,
    ),
  );
  builder.row(
    ...headings(
      ["part", "id", "pieces", "price each", "total", "for", "price from", "dated"],
      [2, 3, 4],
      [1, 6, 7],
    ),
  );
  for (const { part, quantity, total, roles } of sheet.bill) {
    const row = builder.next;
    const pieces = piecesOf.get(part.id) ?? [];
    builder.row(
      text(part.title),
      text(part.id, "note"),
      computed(pieces.join("+") || "0", quantity, "whole"),
      input(part.price.amount, "money"),
      computed(`C${row}*D${row}`, total, "money"),
      text(roles.join(", "), "note"),
      text(part.price.source, "note"),
      text(part.price.date, "note"),
    );
  }
  const last = builder.next - 1;
  const row = builder.row(
    text("Total", "total"),
    text("", "total"),
    text("", "total"),
    text("", "total"),
    computed(`SUM(E${firstRow}:E${last})`, sheet.totals.price, "money", "total"),
  );
  return { page: builder.build(), total: builder.address(row, 4) };
}
