/** The procurement sheet as one HTML page with charts; no script, nothing loaded from elsewhere. */
import { counted, decimalBytes } from "../../capacity/format.ts";
import type { RolePage } from "../../capacity/procurement/page.ts";
import type { Sheet } from "../../capacity/procurement/sheet.ts";
import { escapeHtml, htmlPage, htmlTable } from "../html.ts";
import { headroomChart, makespanChart, storageChart } from "./charts.ts";
import { figureLines } from "./role-page.ts";
import {
  alternativesTable,
  billTable,
  figuresTable,
  money,
  partsTable,
  requirementsTable,
  rolesTable,
  type TextTable,
  whole,
} from "./text-rows.ts";

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
    tableOf(rolesTable(sheet), true),
    list(sheet.notes),
    "<h2>Record store: room</h2>",
    figure(
      storageChart(sheet),
      "Records kept, by month from the start; then the oldest month is dropped whole.",
    ),
    tableOf(figuresTable(storage.figures)),
    "<h3>The estimate on paper, and why it differs</h3>",
    tableOf(figuresTable(storage.rule as unknown as typeof storage.figures)),
    list(storage.differences),
    "<h2>Record store: headroom of the disk</h2>",
    figure(headroomChart(sheet), `Logarithmic. Decided by ${iops.binding.constraint}: ${iops.binding.why}.`),
    tableOf(figuresTable(iops.figures)),
    list(iops.notes),
    "<h2>Shards and run length</h2>",
    figure(
      makespanChart(sheet),
      `Job ${sheet.shards.job}, simulated; chosen: ${sheet.shards.answer.chosen.shards} shards because ${sheet.shards.answer.binding.why}.`,
    ),
    ...sheet.pages.flatMap((page) => roleSection(page, sheet)),
    "<h2>Bill of materials</h2>",
    tableOf(billTable(sheet)),
    `<p><b>Total ${escapeHtml(`${money(totals.price)} ${catalogue.currency}`)}</b></p>`,
  ];
  return htmlPage(`What to order: ${sheet.workload.name}`, body.join("\n"));
}

function roleSection(page: RolePage, { catalogue }: Sheet): string[] {
  const { configuration } = page;
  return [
    `<h2>${escapeHtml(page.title)}</h2>`,
    `<p>${escapeHtml(page.purpose)}</p>`,
    `<p><b>${counted(page.machines.value, "machine")}</b>: ${escapeHtml(page.machines.formula)}. Decided by ${escapeHtml(`${page.binding.constraint}: ${page.binding.why}`)}.</p>`,
    list(figureLines(page)),
    tableOf(partsTable(page, catalogue.currency)),
    `<p>One machine: <b>${escapeHtml(`${money(configuration.price)} ${catalogue.currency}`)}</b>, ${configuration.watts} W, ${configuration.rackUnits} U.</p>`,
    "<h3>Requirements and how they are tested on delivery</h3>",
    tableOf(requirementsTable(page)),
    ...(page.alternatives.length === 0
      ? []
      : ["<h3>What else would do</h3>", tableOf(alternativesTable(page, catalogue.currency))]),
  ];
}

function tableOf({ header, rows, numeric }: TextTable, hasTotal = false): string {
  return htmlTable(header, rows, numeric, hasTotal);
}

function list(items: readonly string[]): string {
  return items.length === 0 ? "" : `<ul>${items.map((item) => `<li>${escapeHtml(item)}</li>`).join("")}</ul>`;
}
