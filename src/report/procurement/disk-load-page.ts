/** The workbook's page of the record store's disk: how busy it is. */
import type { Sheet } from "../../capacity/procurement/sheet.ts";
import { computed, headings, type NumberFormat, PageBuilder, text, type WorkbookPage } from "../workbook.ts";
import type { InputName, InputsPage } from "./inputs-page.ts";

export function diskLoadPage(sheet: Sheet, inputs: InputsPage): WorkbookPage {
  const builder = new PageBuilder("Disk load", [38, 16, 52, 66], 2);
  builder.row(text("Record store: commits and writes in the busiest window", "title"));
  builder.row(...headings(["what", "value", "how", "source"], [1], [3]));
  const at = new Map<string, string>();
  const f = sheet.iops.figures;
  const line = (
    key: string,
    formula: string,
    how: string,
    format: NumberFormat = "decimal",
    style: "computed" | "total" = "computed",
  ) => {
    const figure = f[key]!;
    const row = builder.row(
      text(figure.label, style === "total" ? "label" : "text"),
      computed(formula, figure.value, format, style),
      text(how, "note"),
      text(figure.source.text, "note"),
    );
    at.set(key, builder.address(row, 1));
  };
  const i = (name: InputName) => inputs.of(name);
  const ref = (key: string) => at.get(key)!;
  const runs = i("runsPerDay");
  const shards = i("shards");
  const window = `${i("busiestShare")}/${i("busiestSeconds")}`;
  line("smallTransactions", `${runs}*${shards}`, "shards × executions", "whole");
  line("commitsPerDay", `${runs}*(1+2*${shards})`, "executions × (1 + 2 × shards)", "whole");
  line("meanCommits", `${ref("commitsPerDay")}/86400`, "commits a day ÷ 86,400");
  line(
    "peakCommits",
    `${ref("commitsPerDay")}*${window}`,
    "commits a day × part of the day ÷ length of the window",
  );
  line(
    "peakBatched",
    `${runs}*(2+2*ROUNDUP(${shards}/${i("batch")},0))*${window}`,
    "executions × (2 + 2 × ⌈shards ÷ batch⌉), in the window",
  );
  line(
    "flushes",
    `${ref("peakCommits")}/${i("commitsPerFlush")}`,
    "peak commits ÷ commits that share a flush",
  );
  line(
    "flushHeadroom",
    `${i("flushes")}/${ref("flushes")}`,
    "flushes the disk can do ÷ needed",
    "decimal",
    "total",
  );
  line(
    "serialHeadroom",
    `${i("flushes")}/${ref("peakCommits")}`,
    "the same with nobody to share a flush with",
  );
  const shardRate = `${ref("smallTransactions")}*${window}`;
  line(
    "writes",
    `(MAX(${ref("flushes")},${shardRate}*${i("logBytes")}/8192)+${shardRate}*${i("pagesPerShard")})*${i("penalty")}`,
    "(log writes + page writes) × operations a write costs",
  );
  line("canWrite", `${i("writes")}*${i("drives")}`, "writes of one drive × drives", "whole");
  line(
    "writeHeadroom",
    `${ref("canWrite")}/${ref("writes")}`,
    "writes the drives can do ÷ needed",
    "decimal",
    "total",
  );
  builder.gap();
  builder.row(
    text("Verdict", "label"),
    computed(
      `IF(MIN(${ref("flushHeadroom")},${ref("writeHeadroom")})<1,"too slow",IF(MIN(${ref("flushHeadroom")},${ref("writeHeadroom")})<${i("headroom")},"little headroom","enough"))`,
      verdict(sheet, inputs.value("headroom")),
      "decimal",
      "good",
    ),
  );
  return builder.build();
}

function verdict({ iops }: Sheet, wanted: number): string {
  const least = Math.min(iops.figures.flushHeadroom!.value, iops.figures.writeHeadroom!.value);
  return least < 1 ? "too slow" : least < wanted ? "little headroom" : "enough";
}
