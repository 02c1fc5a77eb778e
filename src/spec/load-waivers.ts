/** Reads a file of waivers. Never throws for what is in it. */
import { documentsOf, loadFiles } from "./load.ts";
import { formatPath, type Position, type Problem } from "./problem.ts";
import type { WaiversDocument } from "./waiver-schema.ts";

/** One waiver and where it is written. */
export type Waiver = WaiversDocument["spec"]["waivers"][number] & { readonly at: Position };

export interface LoadedWaivers {
  /** Empty when there is any problem. */
  readonly waivers: readonly Waiver[];
  readonly problems: readonly Problem[];
}

/** @param file with one or more documents of kind Waivers, and nothing else */
export async function loadWaivers(file: string): Promise<LoadedWaivers> {
  const { documents, problems } = await loadFiles([file]);
  const found: Problem[] = [...problems];
  const waivers: Waiver[] = [];
  for (const other of documents.filter(({ kind }) => kind !== "Waivers"))
    found.push({
      ...other.positionOf(["kind"]),
      path: "kind",
      message: `is ${other.kind}; a file of waivers has kind: Waivers`,
    });
  const taken = new Map<string, Position>();
  for (const { value, positionOf } of documentsOf(documents, "Waivers"))
    for (const [i, waiver] of value.spec.waivers.entries()) {
      const path = ["spec", "waivers", i];
      const at = positionOf(path);
      const { item, scope } = waiver;
      const key = `item ${item}, ${scope.kind}${scope.name === undefined ? "" : ` ${scope.name}`}`;
      const before = taken.get(key);
      if (before)
        found.push({
          ...at,
          path: formatPath(path),
          message: `${key} is already waived at line ${before.line}`,
        });
      else taken.set(key, at);
      waivers.push({ ...waiver, at });
    }
  return { waivers: found.length > 0 ? [] : waivers, problems: found };
}
