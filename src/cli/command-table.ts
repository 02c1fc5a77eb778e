/** Every command of the product, one line each, in the order of the overview. */
import type { CommandEntry } from "./command.ts";

export const commandTable: readonly CommandEntry[] = [
  { name: "demo", summary: "run a whole cluster here, kill parts of it, and prove nothing was lost", load: () => import("./demo.ts") },
  { name: "jobs", summary: "check, plan, apply and list job files; pause, resume, delete", load: () => import("./jobs.ts") },
  { name: "run", summary: "run a job now, by hand", load: () => import("./run.ts") },
  { name: "rerun", summary: "run an execution's failed shards, or all that did not succeed, again", load: () => import("./rerun.ts") },
  { name: "backfill", summary: "run the fires of a past interval that were never run", load: () => import("./backfill.ts") },
  { name: "status", summary: "who leads, what runs, what is late", load: () => import("./status.ts") },
  { name: "executions", summary: "list executions, newest first", load: () => import("./executions.ts") },
  { name: "shards", summary: "list the shards of one execution", load: () => import("./shards.ts") },
  { name: "cron", summary: "show when a schedule fires, and say it in words", load: () => import("./cron.ts") },
  { name: "scheduler", summary: "run a scheduler", load: () => import("./scheduler.ts") },
  { name: "executor", summary: "run an executor", load: () => import("./executor.ts") },
  { name: "report", summary: "tell the executor about progress, from inside a job", load: () => import("./report.ts") },
  { name: "store", summary: "set up, check and prune the record store", load: () => import("./store.ts") },
];
