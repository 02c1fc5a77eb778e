/** CSV, Markdown, HTML and SVG: right for plain text, harmless for hostile text. */
import { describe, expect, test } from "vitest";
import { csvText, safeCell } from "../../src/report/csv.ts";
import { escapeHtml, htmlTable } from "../../src/report/html.ts";
import { markdownTable } from "../../src/report/markdown.ts";
import { procurementCsv } from "../../src/report/procurement/csv.ts";
import { procurementHtml } from "../../src/report/procurement/html.ts";
import { procurementMarkdown } from "../../src/report/procurement/markdown.ts";
import { areaChart, barChart } from "../../src/report/svg.ts";
import { hostileSheet, sheetUnderTest } from "./sheet-under-test.ts";

const sheet = sheetUnderTest();
const attacked = hostileSheet();

describe("csv", () => {
  test.each(["=1+1", "+1", "-1", "@A1", " =1", "\uFF1D1"])("%j is made text", (value) => {
    expect(safeCell(value)).toBe(`'${value}`);
  });
  test.each(["\t=x", "\r\n=x", "\u0000=x"])("%j is made text on one line", (value) => {
    expect(safeCell(value)).toBe("' =x");
  });
  test("numbers stay numbers, also negative ones; quotes are doubled; lines end in CR LF", () => {
    expect(csvText([[-1, 'a"b', "c,d", "e\nf", "plain"]])).toBe('-1,"a""b","c,d",e f,plain\r\n');
  });
  test("the bill adds up to the total, whatever the parts are called", () => {
    for (const one of [sheet, attacked]) {
      const lines = procurementCsv(one).trimEnd().split("\r\n").slice(1);
      const totals = lines.map((line) => Number(/,(\d+(?:\.\d+)?),EUR,/.exec(line)?.[1]));
      expect(totals.reduce((sum, value) => sum + value, 0)).toBeCloseTo(one.totals.price, 6);
      for (const line of lines) expect(line).not.toMatch(/(^|,)"?[=+@]/);
    }
  });
});

describe("html", () => {
  test("text is text", () => {
    expect(escapeHtml(`<a href="x">&'`)).toBe("&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    expect(htmlTable(["<h>"], [["<b>"]])).not.toMatch(/<[hb]>/);
  });
  test("the page has the three charts, every role, every requirement, and nothing from elsewhere", () => {
    const page = procurementHtml(sheet);
    expect(page.match(/<svg /g)).toHaveLength(3);
    for (const role of sheet.pages) {
      expect(page).toContain(`<h2>${role.title}</h2>`);
      for (const requirement of role.requirements) expect(page).toContain(escapeHtml(requirement.text));
    }
    expect(page).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)|<link|<img|\bon[a-z]+=/i);
    expect(page).not.toContain("NaN");
    expect(page).not.toContain("undefined");
  });
  test("hostile names do not get out of their cells", () => {
    const page = procurementHtml(attacked);
    expect(page).not.toContain("<script>");
    expect(page.split("<table").length).toBe(procurementHtml(sheet).split("<table").length);
  });
});

describe("markdown", () => {
  test("pipes and line ends stay in their cell", () => {
    const table = markdownTable(["a", "b"], [["x|y", "1\n2"]]);
    expect(table.split("\n")).toEqual(["| a | b |", "| --- | --- |", "| x\\|y | 1 2 |"]);
  });
  test("every table has as many cells in each row as in its head, also with hostile names", () => {
    for (const one of [sheet, attacked]) {
      const text = procurementMarkdown(one);
      for (const block of text.split("\n\n").filter((part) => part.startsWith("|"))) {
        const counts = block
          .trim()
          .split("\n")
          .map((line) => line.replaceAll("\\|", "").split("|").length);
        expect(new Set(counts).size, block).toBe(1);
      }
      expect(text).not.toMatch(/[^\\]<script/);
    }
  });
});

describe("charts", () => {
  const chart = {
    title: "t",
    labels: ["a", "b"],
    series: [{ name: "<s>", colour: "#123456", values: [1, 100] }],
    format: String,
  };
  test("bars are as high as their values", () => {
    const heights = [
      ...barChart(chart).matchAll(
        /<rect x="[\d.]+" y="[\d.]+" width="[\d.]+" height="([\d.]+)" fill="#123456"\/><text/g,
      ),
    ].map(([, height]) => Number(height));
    // The last one is the legend's.
    expect(heights).toHaveLength(3);
    expect(heights[1]! / heights[0]!).toBeGreaterThan(50);
    expect(barChart(chart)).not.toContain("<s>");
  });
  test("a logarithmic axis has powers of ten and takes zero", () => {
    const svg = barChart({
      ...chart,
      series: [{ name: "s", colour: "#123456", values: [0, 5_000] }],
      logarithmic: true,
    });
    expect(svg).toContain(">1000<");
    expect(svg).not.toMatch(/NaN|Infinity/);
  });
  test("one value alone, and marks above all values, are drawn inside the frame", () => {
    const svg = areaChart({
      ...chart,
      labels: ["a"],
      series: [{ name: "s", colour: "#123456", values: [3] }],
      marks: [{ value: 9, name: "mark" }],
    });
    expect(svg).toContain("mark");
    expect(svg).not.toMatch(/NaN|Infinity|="-\d/);
  });
});
