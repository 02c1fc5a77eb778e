/** The workbook's page of the record store's disk: room, and beside it the estimate on paper. */
import type { Sheet } from "../../capacity/procurement/sheet.ts";
import { computed, headings, type NumberFormat, PageBuilder, text, type WorkbookPage } from "../workbook.ts";
import type { InputName, InputsPage } from "./inputs-page.ts";

const gibibyte = 2 ** 30;

export interface StoragePage {
  readonly page: WorkbookPage;
  /** Address of the disk to order. */
  readonly needed: string;
}

export function storagePage(sheet: Sheet, inputs: InputsPage): StoragePage {
  const builder = new PageBuilder("Storage", [36, 16, 52, 66], 3);
  builder.row(text("Record store: room on disk", "title"));
  builder.row(text("1 GB is 10⁹ bytes, as drives are sold.", "note", 4));
  builder.row(...headings(["what", "value", "how", "source"], [1], [3]));
  const at = new Map<string, string>();
  const line = (
    key: string,
    label: string,
    formula: string,
    value: number,
    format: NumberFormat,
    how: string,
    source: string,
    style: "computed" | "total" = "computed",
  ) => {
    const row = builder.row(
      text(label, style === "total" ? "label" : "text"),
      computed(formula, value, format, style),
      text(how, "note"),
      text(source, "note"),
    );
    at.set(key, builder.address(row, 1));
  };
  const i = (name: InputName) => inputs.of(name);
  const ref = (key: string) => at.get(key)!;
  const f = sheet.storage.figures;
  const value = (key: string) => f[key]!.value;
  const months = `((1+${i("growth")})^(1/12))`;
  line(
    "shardsPerDay",
    "shard records a day",
    `${i("runsPerDay")}*${i("shards")}`,
    value("shardsPerDay"),
    "whole",
    "executions × shards",
    f.shardsPerDay!.source.text,
  );
  line(
    "perDay",
    "growth a day",
    `${ref("shardsPerDay")}*(${i("tableBytes")}+${i("indexBytes")})`,
    value("perDay"),
    "megabytes",
    "shards × (table + index bytes)",
    f.perDay!.source.text,
  );
  line(
    "perYear",
    "growth a year",
    `${ref("perDay")}*365.25`,
    value("perYear"),
    "gigabytes",
    "growth a day × 365.25",
    f.perYear!.source.text,
  );
  line(
    "kept",
    "records kept",
    `${ref("perDay")}*365.25/12*IF(${i("growth")}=0,${i("retentionMonths")}+1,(${months}^(${i("retentionMonths")}+1)-1)/(${months}-1))`,
    value("kept"),
    "gigabytes",
    "whole months kept and the one in progress, growing month by month",
    f.kept!.source.text,
  );
  const lastMonth = sheet.storage.overTime.at(-1)!.bytes - (sheet.storage.overTime.at(-2)?.bytes ?? 0);
  line(
    "lastMonth",
    "the largest month",
    `${ref("perDay")}*365.25/12*${months}^${i("retentionMonths")}`,
    lastMonth,
    "gigabytes",
    "growth a day × days of a month, at the end of the retention",
    "follows from the inputs",
  );
  line(
    "walPerDay",
    "log written a day",
    `${ref("shardsPerDay")}*${i("logBytes")}`,
    value("walPerDay"),
    "megabytes",
    "shards × log bytes",
    f.walPerDay!.source.text,
  );
  line(
    "maxWal",
    "max_wal_size",
    `MAX(${gibibyte},2*${ref("walPerDay")}*${i("busiestShare")}*${i("checkpointSeconds")}/MAX(${i("busiestSeconds")},${i("checkpointSeconds")}))`,
    value("maxWal"),
    "gigabytes",
    "2 × log between checkpoints in the busiest window, at least 1 GiB",
    f.maxWal!.source.text,
  );
  line(
    "standby",
    "log kept for a standby",
    `${ref("walPerDay")}*${i("standbyDays")}`,
    value("standby"),
    "gigabytes",
    "log a day × days",
    f.standby!.source.text,
  );
  line(
    "temp",
    "temporary room",
    `${ref("lastMonth")}*${i("indexBytes")}/(${i("tableBytes")}+${i("indexBytes")})+${gibibyte}`,
    value("temp"),
    "gigabytes",
    "index of the largest month, built anew, + 1 GiB",
    f.temp!.source.text,
  );
  line(
    "onDisk",
    "on disk",
    `${ref("kept")}+${i("liveBytes")}+${ref("maxWal")}+${ref("standby")}+${ref("temp")}`,
    value("onDisk"),
    "gigabytes",
    "the sum",
    "follows from the inputs",
  );
  line(
    "needed",
    "disk to order, usable",
    `${ref("onDisk")}/${i("diskFill")}`,
    value("needed"),
    "gigabytes",
    "on disk ÷ how full it may be",
    f.needed!.source.text,
    "total",
  );
  line(
    "archive",
    "archive, on another machine",
    `${ref("walPerDay")}*${i("archiveDays")}+2*${ref("kept")}`,
    value("archive"),
    "gigabytes",
    "days of log + 2 base backups",
    f.archive!.source.text,
  );
  builder.gap();
  builder.row(text("The estimate on paper, for comparison", "label", 4));
  const { rule } = sheet.storage;
  line(
    "paperDay",
    "records a day",
    `${i("runsPerDay")}*${i("shards")}*${i("rowBytes")}`,
    rule.perDay.value,
    "megabytes",
    "executions × shards × bytes",
    rule.perDay.source.text,
  );
  line(
    "paperYear",
    "records a year",
    `${ref("paperDay")}*365`,
    rule.perYear.value,
    "gigabytes",
    "× 365",
    rule.perYear.source.text,
  );
  line(
    "paperLow",
    "with index and log, low",
    `${ref("paperYear")}*2`,
    rule.withIndexAndLogLow.value,
    "gigabytes",
    "× 2",
    rule.withIndexAndLogLow.source.text,
  );
  line(
    "paperHigh",
    "with index and log, high",
    `${ref("paperYear")}*3`,
    rule.withIndexAndLogHigh.value,
    "gigabytes",
    "× 3",
    rule.withIndexAndLogHigh.source.text,
  );
  line(
    "textLow",
    "text output a day, low",
    `${ref("paperDay")}*5`,
    rule.textLogsLow.value,
    "gigabytes",
    "× 5, in a log system",
    rule.textLogsLow.source.text,
  );
  line(
    "textHigh",
    "text output a day, high",
    `${ref("paperDay")}*10`,
    rule.textLogsHigh.value,
    "gigabytes",
    "× 10, in a log system",
    rule.textLogsHigh.source.text,
  );
  builder.gap();
  builder.row(text("Why they differ", "label", 4));
  for (const difference of sheet.storage.differences) builder.row(text(difference, "text", 4));
  return { page: builder.build(), needed: ref("needed") };
}
