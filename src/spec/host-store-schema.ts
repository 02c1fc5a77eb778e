/** PostgreSQL for the records, as a section of a host's profile. */
import { z } from "zod";
import { duration, name, size, wholeNumber } from "./scalar-schema.ts";
import { numberBetween } from "./workload-schema.ts";

export const recordStore = z.strictObject({
  major: wholeNumber(15, 30, "Major version of PostgreSQL."),
  port: wholeNumber(1, 65_535, "Where it listens."),
  database: name("The database of the records."),
  sharedBuffersShare: numberBetween(0.05, 0.5, "Part of memory for shared_buffers."),
  cacheShare: numberBetween(0.2, 0.9, "Part of memory that the planner believes is cached."),
  connectionsPerHost: wholeNumber(1, 500, "Connections each host of the cluster may need."),
  reservedConnections: wholeNumber(3, 500, "On top: people, backups, monitoring."),
  workMemShare: numberBetween(0.01, 0.5, "Part of memory all sorts may take together."),
  maxWal: size("WAL between two checkpoints."),
  checkpointEvery: duration("The longest time between two checkpoints.", { min: 30_000, max: 86_400_000 }),
});
