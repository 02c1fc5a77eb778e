/** The sheet's tables as rows of text, for the formats that are only read: HTML and Markdown. */
import { formatFigure } from "../../capacity/format.ts";
import type { RolePage } from "../../capacity/procurement/page.ts";
import type { Sheet } from "../../capacity/procurement/sheet.ts";
import { acceptanceText } from "./acceptance-text.ts";

export interface TextTable {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Columns of numbers. */
  readonly numeric: readonly number[];
}

export function money(value: number): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** The last row is the sum. */
export function rolesTable({ pages, catalogue, totals }: Sheet): TextTable {
  const rows = pages.map(({ title, machines, configuration: { price, watts, rackUnits }, purpose }) => {
    const count = machines.value;
    return [
      title,
      String(count),
      money(count * price),
      whole(count * watts),
      String(count * rackUnits),
      purpose,
    ];
  });
  const { machines, price, watts, rackUnits } = totals;
  return {
    header: ["role", "machines", `price, ${catalogue.currency}`, "watts", "rack units", "what for"],
    rows: [...rows, ["Total", String(machines), money(price), whole(watts), String(rackUnits), ""]],
    numeric: [1, 2, 3, 4],
  };
}

export function partsTable({ configuration }: RolePage, currency: string): TextTable {
  return {
    header: ["part of one machine", "pieces", `price each, ${currency}`, "watts", "why"],
    rows: configuration.lines.map(({ part, quantity, why }) => [
      part.title,
      String(quantity),
      money(part.price.amount),
      whole(part.watts * quantity),
      why,
    ]),
    numeric: [1, 2, 3],
  };
}

export function requirementsTable({ requirements }: RolePage): TextTable {
  return {
    header: ["requirement", "tested by", "what it is for"],
    rows: requirements.map((one) => [one.text, acceptanceText(one), one.why]),
    numeric: [],
  };
}

export function alternativesTable({ alternatives }: RolePage, currency: string): TextTable {
  return {
    header: ["what else would do", "machines", `total, ${currency}`, "difference"],
    rows: alternatives.map((one) => [one.title, String(one.machines), money(one.totalPrice), one.difference]),
    numeric: [1, 2],
  };
}

export function billTable({ bill }: Sheet): TextTable {
  return {
    header: ["part", "id", "pieces", "price each", "total", "for", "price from", "dated"],
    rows: bill.map(({ part, quantity, total, roles }) => [
      part.title,
      part.id,
      String(quantity),
      money(part.price.amount),
      money(total),
      roles.join(", "),
      part.price.source,
      part.price.date,
    ]),
    numeric: [2, 3, 4],
  };
}

export function figuresTable(figures: Sheet["storage"]["figures"]): TextTable {
  return {
    header: ["what", "value", "how", "source"],
    rows: Object.values(figures).map((one) => [one.label, formatFigure(one), one.formula, one.source.text]),
    numeric: [1],
  };
}
