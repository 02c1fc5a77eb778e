/** A role's page of the workbook: the machine part by part, how many, power, what is tested, what else would do. */

import { formatFigure } from "../../capacity/format.ts";
import type { RolePage } from "../../capacity/procurement/page.ts";
import type { Sheet } from "../../capacity/procurement/sheet.ts";
import { computed, headings, input, number, PageBuilder, text, type WorkbookPage } from "../workbook.ts";
import { acceptanceText } from "./acceptance-text.ts";
import { priceAddress } from "./bill-page.ts";

export interface RoleSheetPage {
  readonly page: WorkbookPage;
  /** For each part the expression "pieces in all machines of this role". */
  readonly pieces: readonly (readonly [partId: string, formula: string])[];
  readonly machines: string;
  readonly price: string;
  readonly watts: string;
  readonly rackUnits: string;
}

/** Names of pages are at most 31 characters and hold none of \ / ? * [ ] : */
export function pageName(title: string): string {
  return title.replace(/[\\/?*[\]:]/g, " ").slice(0, 31);
}

export function rolePage(sheet: Sheet, role: RolePage): RoleSheetPage {
  const { currency } = sheet.catalogue;
  const builder = new PageBuilder(pageName(role.title), [46, 14, 14, 16, 14, 52]);
  builder.row(text(role.title, "title"));
  builder.row(text(role.purpose, "text", 6));
  builder.gap();
  const machinesRow = machineRows(builder, role);
  const machines = builder.address(machinesRow, 1);
  builder.row(text("decided by"), text(`${role.binding.constraint}: ${role.binding.why}`, "note", 5));
  builder.gap();

  builder.row(
    ...headings(
      ["part of one machine", "pieces", "price each", `total, ${currency}`, "watts", "why"],
      [1, 2, 3, 4],
    ),
  );
  const first = builder.next;
  const pieces: [string, string][] = [];
  for (const { part, quantity, why } of role.configuration.lines) {
    const row = builder.next;
    builder.row(
      text(part.title),
      input(quantity, "whole"),
      computed(priceAddress(sheet, part), part.price.amount, "money"),
      computed(`B${row}*C${row}`, quantity * part.price.amount, "money"),
      computed(`B${row}*${part.watts}`, quantity * part.watts, "whole"),
      text(why, "note"),
    );
    pieces.push([part.id, `${builder.address(row, 1)}*${machines}`]);
  }
  const last = builder.next - 1;
  const { price, watts, rackUnits } = role.configuration;
  const one = builder.row(
    text("one machine", "total"),
    text("", "total"),
    text("", "total"),
    computed(`SUM(D${first}:D${last})`, price, "money", "total"),
    computed(`SUM(E${first}:E${last})`, watts, "whole", "total"),
  );
  const count = role.machines.value;
  const all = builder.row(
    text("all machines", "total"),
    text("", "total"),
    text("", "total"),
    computed(`D${one}*${machines}`, price * count, "money", "total"),
    computed(`E${one}*${machines}`, watts * count, "whole", "total"),
  );
  const units = builder.row(
    text("rack units, all machines"),
    computed(`${rackUnits}*${machines}`, rackUnits * count, "whole"),
  );
  powerRow(builder, role, one);
  builder.gap();

  builder.row(...headings(["requirement", "tested by", "", "", "", "what it is for"], [], [1, 5]));
  for (const requirement of role.requirements) {
    builder.row(
      text(requirement.text),
      text(acceptanceText(requirement), "textIndented", 4),
      undefined,
      undefined,
      undefined,
      text(requirement.why, "note"),
    );
  }
  if (role.alternatives.length > 0) {
    builder.gap();
    builder.row(
      ...headings(
        ["what else would do", "machines", `total, ${currency}`, "", "", "against the choice above"],
        [1, 2],
        [5],
      ),
    );
    for (const other of role.alternatives) {
      builder.row(
        text(other.title),
        number(other.machines, "whole"),
        number(other.totalPrice, "money"),
        undefined,
        undefined,
        text(other.difference, "note"),
      );
    }
  }
  return {
    page: builder.build(),
    pieces,
    machines,
    price: builder.address(all, 3),
    watts: builder.address(all, 4),
    rackUnits: builder.address(units, 1),
  };
}

/** Executors: the number follows from shards at once; other roles: it is given. */
function machineRows(builder: PageBuilder, role: RolePage): number {
  const { atOnce, slots, spare } = role.machines.inputs as {
    atOnce?: number;
    slots?: number;
    spare?: number;
  };
  if (atOnce === undefined || slots === undefined || spare === undefined) {
    return builder.row(
      text("machines", "label"),
      input(role.machines.value, "whole"),
      text(role.machines.formula, "note", 4),
    );
  }
  const wanted = builder.row(
    text("shards at once, all machines"),
    input(atOnce, "whole"),
    text(role.extra[0]?.formula ?? "", "note", 4),
  );
  const each = builder.row(
    text("shards at once on each machine"),
    input(slots, "whole"),
    text(role.binding.why, "note", 4),
  );
  const extra = builder.row(
    text("machines that may be lost"),
    input(spare, "whole"),
    text("one may be down or rebuilt while the others carry on", "note", 4),
  );
  return builder.row(
    text("machines", "label"),
    computed(`MAX(2,ROUNDUP(B${wanted}/B${each},0)+B${extra})`, role.machines.value, "whole", "total"),
    text(role.machines.formula, "note", 4),
  );
}

function powerRow(builder: PageBuilder, role: RolePage, oneMachine: number): void {
  const supplies = builder.row(
    text("power supplies of one machine, watts each"),
    input(role.powerSupplies, "whole"),
    input(role.powerSupplyWatts, "whole"),
  );
  const fits = role.configuration.watts <= role.powerSupplyWatts * Math.max(1, role.powerSupplies - 1);
  builder.row(
    text("with one of them lost"),
    computed(
      `IF(E${oneMachine}<=C${supplies}*MAX(1,B${supplies}-1),"enough","too small")`,
      fits ? "enough" : "too small",
      "decimal",
      "good",
    ),
    text("the remaining supplies carry the machine alone", "note", 4),
  );
}

/** What a page's figures say, one line each. */
export function figureLines(role: RolePage): string[] {
  return [...role.extra, ...Object.values(role.figures)].map(
    (one) => `${one.label}: ${formatFigure(one)} (${one.formula})`,
  );
}
