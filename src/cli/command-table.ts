/** Every command of the product, one line each, in the order of the overview. */
import type { CommandEntry } from "./command.ts";

export const commandTable: readonly CommandEntry[] = [
  {
    name: "demo",
    summary: "see it: a cluster that is killed while it settles and pays, and the proof",
    load: () => import("./demo.ts"),
  },
  {
    name: "jobs",
    summary: "check, plan, apply and list job files; pause, resume, delete",
    load: () => import("./jobs.ts"),
  },
  {
    name: "status",
    summary: "who leads, who executes, what waits and what went wrong",
    load: () => import("./status.ts"),
  },
  {
    name: "ui",
    summary: "the screens an operator keeps open: what ran, what did not, and why",
    load: () => import("./ui.ts"),
  },
  {
    name: "watch",
    summary: "what ran, what did not, and what is new, as plain lines",
    load: () => import("./watch.ts"),
  },
  { name: "executions", summary: "list executions, newest first", load: () => import("./executions.ts") },
  {
    name: "shards",
    summary: "list the shards of one execution and its failed attempts",
    load: () => import("./shards.ts"),
  },
  { name: "run", summary: "run a job now, by hand", load: () => import("./run.ts") },
  {
    name: "rerun",
    summary: "run an ended execution again, without what succeeded",
    load: () => import("./rerun.ts"),
  },
  {
    name: "backfill",
    summary: "run the fires of a past interval that were never run",
    load: () => import("./backfill.ts"),
  },
  {
    name: "diagnose",
    summary: "which fires went wrong, as what, and why",
    load: () => import("./diagnose.ts"),
  },
  {
    name: "explain-fire",
    summary: "why a job ran, or did not run, at a time",
    load: () => import("./explain-fire.ts"),
  },
  { name: "cancel", summary: "cancel an execution that has not ended", load: () => import("./cancel.ts") },
  {
    name: "cron",
    summary: "show when a schedule fires, and say it in words",
    load: () => import("./cron.ts"),
  },
  {
    name: "scheduler",
    summary: "run a scheduler; of several, one leads and the others stand by",
    load: () => import("./scheduler.ts"),
  },
  {
    name: "executor",
    summary: "run an executor: claim shards and run their commands",
    load: () => import("./executor.ts"),
  },
  {
    name: "drain",
    summary: "give an executor no new work, and wait for what it runs",
    load: () => import("./drain.ts"),
  },
  { name: "undrain", summary: "give a drained executor work again", load: () => import("./undrain.ts") },
  {
    name: "alerts",
    summary: "list alerts, acknowledge or silence them, test the channels",
    load: () => import("./alerts.ts"),
  },
  {
    name: "watchman",
    summary: "watch from another machine that every fire happens, and alert",
    load: () => import("./watchman.ts"),
  },
  {
    name: "checklist",
    summary: "ask a cluster the questions that a release depends on",
    load: () => import("./checklist.ts"),
  },
  {
    name: "executor-supervisor",
    summary: "own the children of one executor (started by it)",
    hidden: true,
    load: () => import("./executor-supervisor.ts"),
  },
  {
    name: "report",
    summary: "from inside a job: report rows, keep or read a checkpoint, ask for keys",
    load: () => import("./report.ts"),
  },
  {
    name: "logs",
    summary: "move old job logs of this host into an archive",
    load: () => import("./logs.ts"),
  },
  {
    name: "deploy",
    summary: "bring this toolkit to hosts, or take hosts back to the version before",
    load: () => import("./deploy.ts"),
  },
  {
    name: "playbook",
    summary: "list, show and run ordered procedures on hosts",
    load: () => import("./playbook.ts"),
  },
  { name: "store", summary: "set up, check and prune the record store", load: () => import("./store.ts") },
  {
    name: "once",
    summary: "run a command for one fire time or period, on one of several hosts",
    load: () => import("./once.ts"),
  },
  {
    name: "guard",
    summary: "make second runs harmless: install, list what is in doubt, settle it",
    load: () => import("./guard.ts"),
  },
  {
    name: "capacity",
    summary: "how many shards, how much disk and memory, what to order",
    load: () => import("./capacity.ts"),
  },
  {
    name: "hosts",
    summary: "list the hosts, try to reach them, trust their keys",
    load: () => import("./hosts.ts"),
  },
  {
    name: "facts",
    summary: "read what hosts are made of, and what is wrong with it",
    load: () => import("./facts.ts"),
  },
  {
    name: "profiles",
    summary: "list and check what a host of each role shall have",
    load: () => import("./profiles.ts"),
  },
  {
    name: "explain",
    summary: "what a host shall have, and where each value came from",
    load: () => import("./explain.ts"),
  },
  {
    name: "plan",
    summary: "what apply would change on hosts, without changing anything",
    load: () => import("./plan.ts"),
  },
  {
    name: "apply",
    summary: "make hosts what their profiles say; each reverts by itself unless confirmed",
    load: () => import("./apply.ts"),
  },
  {
    name: "verify",
    summary: "whether hosts are what they should be, in effect",
    load: () => import("./verify.ts"),
  },
  {
    name: "drift",
    summary: "look at hosts on a timer, and say what has changed since the last look",
    load: () => import("./drift.ts"),
  },
  {
    name: "rollback",
    summary: "take the last change of a host back, with the host's own script",
    load: () => import("./rollback.ts"),
  },
  {
    name: "drill",
    summary: "break it on purpose, prove it broke, put it back, judge it",
    load: () => import("./drill.ts"),
  },
  {
    name: "lab",
    summary: "throw-away hosts to try everything on, and ways to break them",
    load: () => import("./lab.ts"),
  },
];
