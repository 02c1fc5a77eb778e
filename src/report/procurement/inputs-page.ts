/** The page of the workbook that a reader changes: what goes into every other page. */
import { commitsPerFlush } from "../../capacity/iops/group-commit.ts";
import { writePenalty } from "../../capacity/iops/media.ts";
import type { Sheet } from "../../capacity/procurement/sheet.ts";
import { plannedFill } from "../../capacity/storage/estimate.ts";
import { headings, input, type NumberFormat, PageBuilder, text, type WorkbookPage } from "../workbook.ts";

/** Names of inputs, for formulas of other pages. */
export interface InputsPage {
  readonly page: WorkbookPage;
  /** The address of an input. */
  of(name: InputName): string;
  /** Its value. */
  value(name: InputName): number;
}

const names = [
  "runsPerDay",
  "shards",
  "rowBytes",
  "tableBytes",
  "indexBytes",
  "logBytes",
  "liveBytes",
  "retentionMonths",
  "growth",
  "archiveDays",
  "checkpointSeconds",
  "standbyDays",
  "diskFill",
  "busiestShare",
  "busiestSeconds",
  "batch",
  "sessions",
  "commitsPerFlush",
  "flushes",
  "writes",
  "drives",
  "penalty",
  "pagesPerShard",
  "headroom",
] as const;
export type InputName = (typeof names)[number];

export function inputsPage(sheet: Sheet): InputsPage {
  const { question, storage, iopsInputs, iops } = sheet;
  const shardsPerDay = question.runsPerDay * question.shards;
  const layout = iopsInputs.layout as keyof typeof writePenalty;
  const builder = new PageBuilder("Inputs", [44, 18, 62], 3);
  builder.row(text("Inputs", "title"));
  builder.row(text("Blue cells may be changed; every other page follows.", "note", 3));
  builder.row(...headings(["what", "value", "where it comes from"], [1]));
  const addresses = new Map<InputName, string>();
  const values = new Map<InputName, number>();
  const line = (name: InputName, label: string, value: number, format: NumberFormat, source: string) => {
    addresses.set(
      name,
      builder.address(builder.row(text(label), input(value, format), text(source, "note")), 1),
    );
    values.set(name, value);
  };
  const workload = `workload ${sheet.workload.name}: ${sheet.workload.origin}`;
  const simulated =
    "page-level simulation of the record tables; computed for these executions, shards and bytes";
  line("runsPerDay", "executions a day", question.runsPerDay, "whole", workload);
  line("shards", "shards of an execution", question.shards, "whole", workload);
  line("rowBytes", "bytes of data in one shard's record", question.rowBytes, "whole", workload);
  line("tableBytes", "table bytes for each shard", storage.figures.heapPerRow!.value, "decimal", simulated);
  line("indexBytes", "index bytes for each shard", storage.figures.indexPerRow!.value, "decimal", simulated);
  line(
    "logBytes",
    "log bytes for each shard",
    storage.figures.walPerDay!.value / shardsPerDay,
    "decimal",
    simulated,
  );
  line("liveBytes", "live tables, bytes", storage.figures.live!.value, "whole", simulated);
  line(
    "retentionMonths",
    "months of records kept",
    question.retentionMonths,
    "whole",
    "at least 12, for a year-end audit",
  );
  line("growth", "growth of executions a year", question.growthPerYear, "percent", workload);
  line("archiveDays", "days of log in the archive", question.archiveDays, "whole", workload);
  line(
    "checkpointSeconds",
    "time between checkpoints, s",
    question.checkpointMs / 1_000,
    "whole",
    "PostgreSQL's checkpoint_timeout",
  );
  line(
    "standbyDays",
    "days a standby may be away",
    question.standbyAwayMs / 86_400_000,
    "decimal",
    "assumption",
  );
  line(
    "diskFill",
    "a disk is planned to be this full",
    plannedFill,
    "percent",
    "rule: three quarters at most",
  );
  line(
    "busiestShare",
    "part of the day's work in the busiest window",
    question.busiestShare,
    "percent",
    workload,
  );
  line("busiestSeconds", "length of that window, s", question.busiestMs / 1_000, "whole", workload);
  line("batch", "shards completed in one statement", question.batch, "whole", "assumption");
  line("sessions", "executors that commit at a time", iopsInputs.sessions, "whole", workload);
  line(
    "commitsPerFlush",
    "commits that share a flush",
    commitsPerFlush(iopsInputs.sessions),
    "decimal",
    "measured for 1 to 64 sessions",
  );
  line(
    "flushes",
    "flushes a second the disk can do",
    iopsInputs.medium.flushesPerSecond,
    "whole",
    iopsInputs.medium.name,
  );
  line(
    "writes",
    "writes a second of one drive",
    iopsInputs.medium.writeIops,
    "whole",
    iopsInputs.medium.name,
  );
  line("drives", "drives", iopsInputs.drives, "whole", `layout ${iopsInputs.layout}`);
  line(
    "penalty",
    "disk operations a write costs",
    writePenalty[layout],
    "whole",
    `layout ${iopsInputs.layout}`,
  );
  line(
    "pagesPerShard",
    "pages written for each shard",
    Number(iops.figures.pagesPerShard!.value),
    "decimal",
    iops.figures.pagesPerShard!.formula,
  );
  line("headroom", "headroom ordered for the disk", 3, "decimal", "a slow hour must not be felt");
  return {
    page: builder.build(),
    of: (name) => addresses.get(name)!,
    value: (name) => values.get(name)!,
  };
}
