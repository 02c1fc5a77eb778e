/** The workload, catalogue and sheet a command works with: files that were named, or those that come with the program. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { EscapementError } from "../../base/errors.ts";
import type { Catalogue } from "../../spec/catalogue-schema.ts";
import type { DocumentOf, Kind } from "../../spec/kinds.ts";
import { documentsOf, loadFiles } from "../../spec/load.ts";
import type { ProcurementSheet } from "../../spec/procurement-schema.ts";
import type { Workload } from "../../spec/workload-schema.ts";
import { failOnProblems } from "../problems.ts";

export interface Named<T> {
  readonly name: string;
  readonly file: string;
  readonly spec: T;
}

export function loadWorkload(file?: string): Promise<Named<Workload>> {
  return loadOne("Workload", file ?? shipped("workloads/reference.yaml"));
}

export function loadCatalogue(file?: string): Promise<Named<Catalogue>> {
  return loadOne("Catalogue", file ?? shipped("catalogue.yaml"));
}

export function loadProcurement(file?: string): Promise<Named<ProcurementSheet>> {
  return loadOne("ProcurementSheet", file ?? shipped("sheet.yaml"));
}

/** @throws E_SPEC_INVALID after telling every problem, E_BAD_DATA when there is not exactly one such document */
async function loadOne<K extends Kind>(kind: K, file: string): Promise<Named<DocumentOf<K>["spec"]>> {
  const { documents, problems } = await loadFiles([file]);
  failOnProblems(problems);
  const found = documentsOf(documents, kind);
  const [document] = found;
  if (!document || found.length > 1) {
    throw new EscapementError(
      "E_BAD_DATA",
      {
        what: `${file} has ${found.length === 0 ? "no" : "more than one"} document of kind ${kind}`,
        hint: `name a file with one kind: ${kind}; capacity/ of the program has one to start from`,
      },
      { at: file },
    );
  }
  return { name: document.value.metadata.name, file, spec: document.value.spec };
}

/** A file of the program's own capacity/ folder, seen from the source as from the bundle. */
function shipped(name: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) break;
    folder = parent;
  }
  return join(folder, "capacity", name);
}
