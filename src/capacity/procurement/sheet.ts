/** The procurement sheet as data: pages, bill, totals. Every writer (workbook, HTML, Markdown, CSV) starts from this. */
import type { Catalogue, Part } from "../../spec/catalogue-schema.ts";
import type { ProcurementSheet } from "../../spec/procurement-schema.ts";
import type { Workload } from "../../spec/workload-schema.ts";
import type { Answer } from "../figure.ts";
import { estimateIops } from "../iops/estimate.ts";
import type { Medium } from "../iops/media.ts";
import { chooseShards, type ShardAnswer } from "../shards/choose.ts";
import { estimateStorage, type StorageAnswer } from "../storage/estimate.ts";
import type { StorageQuestion } from "../storage/question.ts";
import { questionFromWorkload } from "../storage/workload-question.ts";
import { demandOf } from "./demand.ts";
import { pageOf, type RolePage } from "./page.ts";

export interface BillLine {
  readonly part: Part;
  readonly quantity: number;
  readonly total: number;
  readonly roles: readonly string[];
}

export interface Sheet {
  readonly workload: { readonly name: string; readonly origin: string };
  readonly catalogue: { readonly name: string; readonly currency: string };
  readonly date: string;
  readonly question: StorageQuestion;
  readonly storage: StorageAnswer;
  readonly iops: Answer;
  readonly iopsInputs: {
    readonly sessions: number;
    readonly medium: Medium;
    readonly drives: number;
    readonly layout: string;
  };
  readonly shards: { readonly job: string; readonly answer: ShardAnswer };
  readonly pages: readonly RolePage[];
  readonly bill: readonly BillLine[];
  readonly totals: {
    readonly price: number;
    readonly watts: number;
    readonly rackUnits: number;
    readonly machines: number;
  };
  readonly notes: readonly string[];
}

export interface SheetInput {
  readonly workload: { readonly name: string; readonly spec: Workload };
  readonly catalogue: { readonly name: string; readonly spec: Catalogue };
  readonly procurement: ProcurementSheet;
  /** Written on the sheet. */
  readonly date: string;
}

/** A planning disk, until the parts are chosen. */
const planned: Medium = {
  name: "SSD with power-loss protection",
  flushesPerSecond: 10_000,
  writeIops: 50_000,
  readIops: 300_000,
  powerLossProtection: true,
};

/** @throws E_BAD_DATA when the catalogue has no part that fits */
export function buildSheet({ workload, catalogue, procurement, date }: SheetInput): Sheet {
  const question = questionFromWorkload(workload.spec);
  const storage = estimateStorage(question);
  const sessions = workload.spec.executorNodes;
  const base = {
    runsPerDay: question.runsPerDay,
    shards: question.shards,
    batch: question.batch,
    busiestShare: question.busiestShare,
    busiestMs: question.busiestMs,
    sessions,
    walPerShard: storage.figures.walPerDay!.value / (question.runsPerDay * question.shards),
    bytesPerShard: storage.figures.perDay!.value / (question.runsPerDay * question.shards),
    isMeasured: false,
  };
  const iopsFirst = estimateIops({ ...base, medium: planned, layout: "raid10", disks: 4 });
  const pages = procurement.roles.flatMap((role) =>
    demandOf(role, workload.spec, storage, iopsFirst).map((demand) => pageOf(demand, catalogue.spec)),
  );
  const store = pages.find(({ name }) =>
    procurement.roles.some((role) => role.name === name && role.use === "record-store"),
  );
  const chosen = store ? chosenMedium(store) : { medium: planned, drives: 4 };
  const layout = procurement.roles.find(({ use }) => use === "record-store")?.disk.layout ?? "raid10";
  const iops = estimateIops({ ...base, medium: chosen.medium, layout, disks: chosen.drives });
  const bill = billOf(pages);
  const sum = (of: (page: RolePage) => number) =>
    pages.reduce((total, page) => total + page.machines.value * of(page), 0);
  return {
    workload: { name: workload.name, origin: workload.spec.origin ?? "not told" },
    catalogue: { name: catalogue.name, currency: catalogue.spec.currency },
    date,
    question,
    storage,
    iops,
    iopsInputs: { sessions, medium: chosen.medium, drives: chosen.drives, layout },
    shards: shardsOf(workload.spec),
    pages,
    bill,
    totals: {
      price: bill.reduce((total, line) => total + line.total, 0),
      watts: sum(({ configuration }) => configuration.watts),
      rackUnits: sum(({ configuration }) => configuration.rackUnits),
      machines: sum(() => 1),
    },
    notes: notesOf(workload.spec, catalogue.spec),
  };
}

function chosenMedium({ configuration }: RolePage): { medium: Medium; drives: number } {
  const drive = configuration.lines.map(({ part }) => part).find((part) => part.type === "disk");
  if (drive?.type !== "disk") return { medium: planned, drives: configuration.drives };
  const { title, flushesPerSecond, writeIops, readIops, powerLossProtection } = drive;
  return {
    medium: { name: title, flushesPerSecond, writeIops, readIops, powerLossProtection },
    drives: configuration.drives,
  };
}

function billOf(pages: readonly RolePage[]): BillLine[] {
  const lines = new Map<string, { part: Part; quantity: number; roles: Set<string> }>();
  for (const page of pages) {
    for (const { part, quantity } of page.configuration.lines) {
      const line = lines.get(part.id) ?? { part, quantity: 0, roles: new Set<string>() };
      line.quantity += quantity * page.machines.value;
      line.roles.add(page.name);
      lines.set(part.id, line);
    }
  }
  return [...lines.values()].map(({ part, quantity, roles }) => ({
    part,
    quantity,
    roles: [...roles],
    total: quantity * part.price.amount,
  }));
}

/** The line with the most work shows how the shard count changes the run's length. */
function shardsOf(workload: Workload): Sheet["shards"] {
  const longest = workload.jobs.reduce((most, job) => (job.totalTime > most.totalTime ? job : most));
  const answer = chooseShards({
    totalMs: longest.totalTime,
    targetMs: Math.min(180_000, longest.totalTime),
    nodes: workload.executorNodes,
    slotsPerNode: 1,
    overheadMs: 300,
    spread: 0.25,
    takeoverMs: 20_000,
    seed: 1,
  });
  return { job: longest.name, answer };
}

function notesOf(workload: Workload, catalogue: Catalogue): string[] {
  const dates = catalogue.parts.map(({ price }) => price.date).sort();
  const notes = [
    `Prices are of ${dates[0]}${dates[0] === dates.at(-1) ? "" : ` to ${dates.at(-1)}`}; each part names its source. A planning figure is not a quote.`,
  ];
  const monthly = Math.max(
    1,
    ...workload.peaks.filter(({ when }) => when === "month-end").map(({ factor }) => factor),
  );
  for (const { name, factor } of workload.peaks) {
    if (factor > monthly)
      notes.push(
        `Executors are sized for the month end (${monthly} ×). On ${name} (${factor} ×) runs take ${(factor / monthly).toFixed(1)} times as long; escapement capacity peak says whether they still fit.`,
      );
  }
  return notes;
}
