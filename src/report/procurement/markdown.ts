/** The procurement sheet as Markdown, for a pull request. */
import { counted, decimalBytes, formatFigure } from "../../capacity/format.ts";
import type { Sheet } from "../../capacity/procurement/sheet.ts";
import { markdownTable, markdownText } from "../markdown.ts";
import { acceptanceText } from "./acceptance-text.ts";
import { figureLines } from "./role-page.ts";

export function procurementMarkdown(sheet: Sheet): string {
  const { currency } = sheet.catalogue;
  const money = (value: number) =>
    value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const parts: string[] = [
    "# What to order",
    markdownText(
      `For workload ${sheet.workload.name} (${sheet.workload.origin}), from catalogue ${sheet.catalogue.name}, ${sheet.date}.`,
    ),
    markdownTable(
      ["role", "machines", `price, ${currency}`, "watts", "rack units"],
      [
        ...sheet.pages.map(
          ({ title, machines: { value: count }, configuration: { price, watts, rackUnits } }) => [
            title,
            String(count),
            money(count * price),
            (count * watts).toLocaleString("en-US"),
            String(count * rackUnits),
          ],
        ),
        [
          "Total",
          String(sheet.totals.machines),
          money(sheet.totals.price),
          sheet.totals.watts.toLocaleString("en-US"),
          String(sheet.totals.rackUnits),
        ],
      ],
      [1, 2, 3, 4],
    ),
    listOf(sheet.notes),
  ];
  for (const page of sheet.pages) {
    parts.push(
      `## ${markdownText(page.title)}`,
      markdownText(page.purpose),
      `**${counted(page.machines.value, "machine")}**: ${markdownText(page.machines.formula)}. Decided by ${markdownText(page.binding.constraint)}: ${markdownText(page.binding.why)}.`,
      listOf(figureLines(page)),
      markdownTable(
        ["part of one machine", "pieces", "price each", "why"],
        page.configuration.lines.map(({ part, quantity, why }) => [
          part.title,
          String(quantity),
          money(part.price.amount),
          why,
        ]),
        [1, 2],
      ),
      markdownTable(
        ["requirement", "tested by", "what it is for"],
        page.requirements.map((one) => [one.text, acceptanceText(one), one.why]),
      ),
    );
    if (page.alternatives.length > 0) {
      parts.push(
        markdownTable(
          ["what else would do", "machines", `total, ${currency}`, "difference"],
          page.alternatives.map((one) => [
            one.title,
            String(one.machines),
            money(one.totalPrice),
            one.difference,
          ]),
          [1, 2],
        ),
      );
    }
  }
  parts.push(
    "## Bill of materials",
    markdownTable(
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
    "## Where the figures come from",
    `Disk to order for the record store: ${decimalBytes(sheet.storage.figures.needed!.value)}.`,
    markdownTable(
      ["what", "value", "how", "source"],
      Object.values(sheet.storage.figures).map((one) => [
        one.label,
        formatFigure(one),
        one.formula,
        one.source.text,
      ]),
    ),
    listOf(sheet.storage.differences),
  );
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function listOf(items: readonly string[]): string {
  return items.map((item) => `- ${markdownText(item)}`).join("\n");
}
