/** What applying job files would change, job by job. */
import type { ResolvedJob } from "../../spec/definitions.ts";
import { timetableNamespace } from "../../spec/drill-schedule-definition.ts";
import type { JobDefinition } from "../../spec/job-definition.ts";
import type { Queryable } from "../../store/database.ts";
import { probeNamespace } from "../../store/drill/drill-sample.ts";
import { type JobRow, jobLabel, listJobs } from "../../store/job.ts";
import { refusalOf } from "../../store/job-change.ts";

export interface JobChange {
  readonly job: string;
  readonly action: "create" | "change" | "revive" | "none" | "refuse" | "delete";
  /** Field by field: before and after, as JSON. */
  readonly fields: readonly { readonly field: string; readonly before?: string; readonly after?: string }[];
  /** Why it is refused. */
  readonly reason?: string;
  readonly hint?: string;
  readonly wanted?: ResolvedJob;
  readonly existing?: JobRow;
}

/** Jobs of drills: no file names them, and they go with their drill or by `drill schedule apply`. */
const ofDrills: readonly string[] = [probeNamespace, timetableNamespace];

/** Compares files with the store. With `prune`, jobs of the store that no file names are deleted, but for those of drills. */
export async function jobChanges(
  db: Queryable,
  wanted: readonly ResolvedJob[],
  options: { prune: boolean },
): Promise<JobChange[]> {
  const existing = new Map(
    (await listJobs(db, { deleted: true })).map((job) => [`${job.namespace}/${job.name}`, job]),
  );
  const changes: JobChange[] = [];
  for (const job of wanted) {
    const { definition, digest } = job;
    const key = `${definition.namespace}/${definition.name}`;
    const before = existing.get(key);
    existing.delete(key);
    const shared = { job: jobLabel(definition), wanted: job, ...(before ? { existing: before } : {}) };
    if (!before) changes.push({ ...shared, action: "create", fields: [] });
    else if (before.state !== "deleted" && before.digest === digest)
      changes.push({ ...shared, action: "none", fields: [] });
    else {
      const refusal = before.state === "deleted" ? null : await refusalOf(db, before, definition);
      const fields = differences(before.definition, definition);
      if (refusal)
        changes.push({ ...shared, action: "refuse", fields, reason: refusal.what, hint: refusal.hint });
      else changes.push({ ...shared, action: before.state === "deleted" ? "revive" : "change", fields });
    }
  }
  if (options.prune) {
    for (const job of existing.values()) {
      if (job.state !== "deleted" && !ofDrills.includes(job.namespace))
        changes.push({ job: jobLabel(job), action: "delete", fields: [], existing: job });
    }
  }
  return changes;
}

/** The leaves in which two definitions differ. */
function differences(before: JobDefinition, after: JobDefinition): JobChange["fields"] {
  const [old, fresh] = [leaves(before), leaves(after)];
  const names = [...new Set([...old.keys(), ...fresh.keys()])].sort();
  return names
    .filter((name) => old.get(name) !== fresh.get(name))
    .map((field) => {
      const [was, is] = [old.get(field), fresh.get(field)];
      return {
        field,
        ...(was === undefined ? {} : { before: was }),
        ...(is === undefined ? {} : { after: is }),
      };
    });
}

function leaves(value: unknown, path = "", into = new Map<string, string>()): Map<string, string> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    for (const [key, inner] of Object.entries(value))
      leaves(inner, path === "" ? key : `${path}.${key}`, into);
  } else {
    into.set(path, JSON.stringify(value));
  }
  return into;
}
