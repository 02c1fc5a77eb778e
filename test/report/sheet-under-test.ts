/** The sheet of the program's own data files, and one with hostile names in it. */
import { readFileSync } from "node:fs";
import { buildSheet, type Sheet } from "../../src/capacity/procurement/sheet.ts";
import type { Catalogue } from "../../src/spec/catalogue-schema.ts";
import { documentsOf, loadText } from "../../src/spec/load.ts";
import type { ProcurementSheet } from "../../src/spec/procurement-schema.ts";
import type { Workload } from "../../src/spec/workload-schema.ts";

const text = (file: string) => readFileSync(new URL(`../../capacity/${file}`, import.meta.url), "utf8");

export interface SheetChanges {
  readonly workload?: Partial<Workload>;
  readonly catalogue?: (catalogue: Catalogue) => Catalogue;
}

export function sheetUnderTest(changes: SheetChanges = {}): Sheet {
  const { documents, problems } = ["workloads/reference.yaml", "catalogue.yaml", "sheet.yaml"].reduce(
    (all, file) => {
      const loaded = loadText(text(file), file);
      return {
        documents: [...all.documents, ...loaded.documents],
        problems: [...all.problems, ...loaded.problems],
      };
    },
    { documents: [], problems: [] } as ReturnType<typeof loadText>,
  );
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const workload = documentsOf(documents, "Workload")[0]!.value.spec as Workload;
  const catalogue = documentsOf(documents, "Catalogue")[0]!.value.spec as Catalogue;
  const procurement = documentsOf(documents, "ProcurementSheet")[0]!.value.spec as ProcurementSheet;
  return buildSheet({
    workload: { name: "reference", spec: { ...workload, ...changes.workload } },
    catalogue: { name: "planning", spec: changes.catalogue?.(catalogue) ?? catalogue },
    procurement,
    date: "2026-01-31",
  });
}

/** What a purchaser's spreadsheet must not run and a page must not render. */
export const hostile = '=HYPERLINK("http://x","<script>alert(1)</script>")|`*_';

export function hostileSheet(): Sheet {
  return sheetUnderTest({
    catalogue: (catalogue) => ({
      ...catalogue,
      parts: catalogue.parts.map((part) => ({
        ...part,
        title: part.type === "cpu" ? hostile : `+${part.title}`,
        price: { ...part.price, source: "@SUM(1+1)\ncmd" },
      })),
    }),
  });
}
