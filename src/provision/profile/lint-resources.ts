/** What is wrong with a profile's own resources taken together. */
import type { Problem } from "../../spec/problem.ts";
import type { PlacedResource } from "./resolved-profile.ts";
import { idOf } from "./user-resources.ts";

/** Resources that wait for each other, and two that cannot stand at one path. */
export function lintResources(resources: readonly PlacedResource[]): readonly Problem[] {
  return [...circles(resources), ...shared(resources)];
}

function problemAt({ file, line, column }: PlacedResource, message: string): Problem {
  return { file, line, column, path: "spec.resources", message };
}

/** Only among themselves: what the sections make waits for nothing that is written here. */
function circles(resources: readonly PlacedResource[]): readonly Problem[] {
  const byId = new Map(resources.map((placed) => [idOf(placed.resource), placed]));
  const done = new Set<string>();
  const problems: Problem[] = [];
  const visit = (id: string, above: readonly string[]) => {
    const placed = byId.get(id);
    if (!placed || done.has(id)) return;
    if (above.includes(id)) {
      const circle = [...above.slice(above.indexOf(id)), id];
      problems.push(problemAt(placed, `waits for itself: ${circle.join(" → ")}`));
      return;
    }
    for (const next of placed.resource.after) visit(next, [...above, id]);
    done.add(id);
  };
  for (const id of byId.keys()) visit(id, []);
  return problems;
}

function shared(resources: readonly PlacedResource[]): readonly Problem[] {
  const files = new Set(
    resources.flatMap(({ resource }) => (resource.kind === "file" ? [resource.path] : [])),
  );
  return resources.flatMap((placed) =>
    placed.resource.kind === "directory" && files.has(placed.resource.path)
      ? [problemAt(placed, `is a directory at ${placed.resource.path}, where a file stands as well`)]
      : [],
  );
}
