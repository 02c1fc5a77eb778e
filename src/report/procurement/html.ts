/** The procurement sheet as one HTML page with charts; no script, nothing loaded from elsewhere. */
import { counted, decimalBytes, formatFigure } from "../../capacity/format.ts";
import type { RolePage } from "../../capacity/procurement/page.ts";
import type { Sheet } from "../../capacity/procurement/sheet.ts";
import { escapeHtml, htmlPage, htmlTable } from "../html.ts";
import { acceptanceText } from "./acceptance-text.ts";
import { headroomChart, makespanChart, storageChart } from "./charts.ts";
import { figureLines } from "./role-page.ts";

export function procurementHtml(sheet: Sheet): string {
  const { totals, catalogue, storage, iops } = sheet;
  const card = (label: string, value: string) =>
    `<div class="card">${escapeHtml(label)}<b>${escapeHtml(value)}</b></div>`;
  const figure = (svg: string, caption: string) =>
    `<figure>${svg}<figcaption>${escapeHtml(caption)}</figcaption></figure>`;
  const body = [
    "<h1>What to order</h1>",
    `<p class="soft">${escapeHtml(`Workload ${sheet.workload.name} (${sheet.workload.origin}), catalogue ${catalogue.name}, ${sheet.date}`)}</p>`,
    `<div class="cards">${card("price", `${whole(totals.price)} ${catalogue.currency}`)}${card("machines", String(totals.machines))}${card("power at full load", `${whole(totals.watts)} W`)}${card("rack units", String(totals.rackUnits))}${card("record store, usable disk", decimalBytes(storage.figures.needed!.value))}</div>`,
    rolesTable(sheet),
    list(sheet.notes),
    "<h2>Record store: room</h2>",
    figure(
      storageChart(sheet),
      "Records kept, by month from the start; then the oldest month is dropped whole.",
    ),
    figureTable(storage.figures),
    "<h3>The estimate on paper, and why it differs</h3>",
    figureTable(storage.rule as unknown as typeof storage.figures),
    list(storage.differences),
    "<h2>Record store: headroom of the disk</h2>",
    figure(headroomChart(sheet), `Logarithmic. Decided by ${iops.binding.constraint}: ${iops.binding.why}.`),
    figureTable(iops.figures),
    list(iops.notes),
    "<h2>Shards and run length</h2>",
    figure(
      makespanChart(sheet),
      `Job ${sheet.shards.job}, simulated; chosen: ${sheet.shards.answer.chosen.shards} shards because ${sheet.shards.answer.binding.why}.`,
    ),
    ...sheet.pages.flatMap((page) => roleSection(page, sheet)),
    "<h2>Bill of materials</h2>",
    htmlTable(
      ["part", "id", "pieces", "price each", "total", "for", "price from", "dated"],
      sheet.bill.map(({ part, quantity, total, roles }) => [
        part.title,
        part.id,
        String(quantity),
        money(part.price.amount),
        money(total),
        roles.join(", "),
        part.price.source,
        part.price.date,
      ]),
      [2, 3, 4],
    ),
    `<p><b>Total ${escapeHtml(`${money(totals.price)} ${catalogue.currency}`)}</b></p>`,
  ];
  return htmlPage(`What to order: ${sheet.workload.name}`, body.join("\n"));
}

function rolesTable({ pages, catalogue, totals }: Sheet): string {
  const rows = pages.map(
    ({ title, machines: { value: count }, configuration: { price, watts, rackUnits }, purpose }) => [
      title,
      String(count),
      money(count * price),
      whole(count * watts),
      String(count * rackUnits),
      purpose,
    ],
  );
  return htmlTable(
    ["role", "machines", `price, ${catalogue.currency}`, "watts", "rack units", "what for"],
    [
      ...rows,
      [
        "Total",
        String(totals.machines),
        money(totals.price),
        whole(totals.watts),
        String(totals.rackUnits),
        "",
      ],
    ],
    [1, 2, 3, 4],
    true,
  );
}

function roleSection(page: RolePage, { catalogue }: Sheet): string[] {
  const { configuration } = page;
  return [
    `<h2>${escapeHtml(page.title)}</h2>`,
    `<p>${escapeHtml(page.purpose)}</p>`,
    `<p><b>${counted(page.machines.value, "machine")}</b>: ${escapeHtml(page.machines.formula)}. Decided by ${escapeHtml(`${page.binding.constraint}: ${page.binding.why}`)}.</p>`,
    list(figureLines(page)),
    htmlTable(
      ["part of one machine", "pieces", `price each, ${catalogue.currency}`, "watts", "why"],
      configuration.lines.map(({ part, quantity, why }) => [
        part.title,
        String(quantity),
        money(part.price.amount),
        String(part.watts * quantity),
        why,
      ]),
      [1, 2, 3],
    ),
    `<p>One machine: <b>${escapeHtml(`${money(configuration.price)} ${catalogue.currency}`)}</b>, ${configuration.watts} W, ${configuration.rackUnits} U.</p>`,
    "<h3>Requirements and how they are tested on delivery</h3>",
    htmlTable(
      ["requirement", "tested by", "what it is for"],
      page.requirements.map((one) => [one.text, acceptanceText(one), one.why]),
    ),
    ...(page.alternatives.length === 0
      ? []
      : [
          "<h3>What else would do</h3>",
          htmlTable(
            ["machine", "machines", `total, ${catalogue.currency}`, "difference"],
            page.alternatives.map((one) => [
              one.title,
              String(one.machines),
              money(one.totalPrice),
              one.difference,
            ]),
            [1, 2],
          ),
        ]),
  ];
}

function figureTable(figures: Sheet["storage"]["figures"]): string {
  return htmlTable(
    ["what", "value", "how", "source"],
    Object.values(figures).map((one) => [one.label, formatFigure(one), one.formula, one.source.text]),
    [1],
  );
}

function list(items: readonly string[]): string {
  return items.length === 0 ? "" : `<ul>${items.map((item) => `<li>${escapeHtml(item)}</li>`).join("")}</ul>`;
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function money(value: number): string {
  return value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}
