/**
 * Everything that can be changed from a screen. Each is a command of the program,
 * run as a process of its own: what a key does, a person can type. None is done
 * before its reason is given and the name of what it is done to is typed.
 */
import type { Question, ScreenName } from "../state/state.ts";
import type { Action } from "./action.ts";

const question = (label: string, hint: string, value = "", optional = false): Question => ({
  label,
  hint,
  value,
  optional,
});

const jobScreens: readonly ScreenName[] = ["jobs", "job", "overview"];
const fireScreens: readonly ScreenName[] = ["execution", "job", "overview"];

export const actions: readonly Action[] = [
  {
    name: "run",
    key: "R",
    title: "run the job now",
    screens: jobScreens,
    needs: ["job"],
    confirms: ({ job }) => job!,
    command: ({ job }, [reason]) => ["run", job!, "--reason", reason!],
  },
  {
    name: "rerun-failed",
    key: "F",
    title: "rerun failed shards",
    screens: fireScreens,
    needs: ["job", "fire"],
    refusal: (_, { status }) =>
      status === "success"
        ? "it succeeded; success is never run again"
        : status === "running"
          ? "it has not ended"
          : status === "no record"
            ? "there is no record of this fire; run the job with its fire time"
            : null,
    confirms: ({ job }) => job!,
    command: ({ job, fire, status }, [reason]) => [
      "rerun",
      job!,
      fire!,
      ...(status === "failed" ? ["--failed"] : []),
      "--reason",
      reason!,
    ],
  },
  {
    name: "pause",
    key: "P",
    title: "pause the job",
    screens: ["jobs", "job"],
    needs: ["job"],
    refusal: (_, { state }) => (state === "paused" ? "it is paused already" : null),
    confirms: ({ job }) => job!,
    command: ({ job }, [reason]) => ["jobs", "pause", job!, "--reason", reason!],
  },
  {
    name: "resume",
    key: "U",
    title: "resume the job",
    screens: ["jobs", "job"],
    needs: ["job"],
    refusal: (_, { state }) => (state === "active" ? "it is not paused" : null),
    confirms: ({ job }) => job!,
    command: ({ job }, [reason]) => ["jobs", "resume", job!, "--reason", reason!],
  },
  {
    name: "backfill",
    key: "B",
    title: "run the fires of a past interval that were never run",
    screens: ["jobs", "job"],
    needs: ["job"],
    asks: () => [
      question("from", "first fire time, RFC 3339: 2026-06-01T00:00:00Z"),
      question("to", "last fire time, RFC 3339"),
    ],
    confirms: ({ job }) => job!,
    command: ({ job }, [from, to, reason]) => [
      "backfill",
      job!,
      "--from",
      from!,
      "--to",
      to!,
      "--reason",
      reason!,
    ],
  },
  {
    name: "drain",
    key: "D",
    title: "drain the executor",
    screens: ["hosts"],
    needs: ["executor"],
    refusal: (_, { drained }) => (drained ? "it is drained already" : null),
    confirms: ({ executor }) => executor!,
    command: ({ executor }, [reason]) => ["drain", executor!, "--reason", reason!],
  },
  {
    name: "undrain",
    key: "U",
    title: "give the executor work again",
    screens: ["hosts"],
    needs: ["executor"],
    refusal: (_, { drained }) => (drained ? null : "it is not drained"),
    confirms: ({ executor }) => executor!,
    command: ({ executor }, [reason]) => ["undrain", executor!, "--reason", reason!],
  },
  {
    name: "acknowledge",
    key: "A",
    title: "acknowledge the alert",
    screens: ["alerts"],
    needs: ["alert"],
    refusal: (_, { acknowledged }) => (acknowledged ? `${acknowledged} has acknowledged it` : null),
    confirms: () => "yes",
    command: ({ alert }, [reason]) => ["alerts", "ack", alert!, "--reason", reason!],
  },
  {
    name: "silence",
    key: "S",
    title: "silence the alert",
    screens: ["alerts"],
    needs: ["alert"],
    asks: () => [question("for", "how long, at most 30d: 2h", "2h")],
    confirms: () => "yes",
    command: ({ alert }, [time, reason]) => [
      "alerts",
      "silence",
      "--key",
      alert!,
      "--for",
      time!,
      "--reason",
      reason!,
    ],
  },
  {
    name: "plan",
    key: "P",
    title: "plan: what apply would change on the host",
    screens: ["hosts"],
    needs: ["host"],
    withInventory: true,
    withoutStore: true,
    withoutReason: true,
    confirms: ({ host }) => host!,
    command: ({ host }) => ["plan", host!],
  },
  {
    name: "apply",
    key: "A",
    title: "apply: make the host what its profile says",
    screens: ["hosts"],
    needs: ["host"],
    withInventory: true,
    withoutStore: true,
    withoutReason: true,
    confirms: ({ host }) => host!,
    command: ({ host }) => ["apply", host!, "--yes"],
  },
  {
    name: "run-drill",
    key: "R",
    title: "run a drill: a fault on purpose",
    screens: ["drills"],
    needs: ["cluster"],
    withInventory: true,
    withoutReason: true,
    refusal: (_, { halted }) => (halted ? `drills are halted by ${halted}` : null),
    asks: ({ drill }) => [question("drill", "a name of escapement drill list", drill ?? "")],
    confirms: () => "break it",
    command: (_, [drill]) => ["drill", "run", drill!, "--yes"],
  },
  {
    name: "halt",
    key: "H",
    title: "halt every drill: the hosts restore at once",
    screens: ["drills", "drill"],
    needs: ["cluster"],
    withInventory: true,
    refusal: (_, { halted }) => (halted ? `${halted} has halted them already` : null),
    confirms: () => "halt",
    command: (_, [reason]) => ["drill", "halt", "--reason", reason!],
  },
  {
    name: "lift-halt",
    key: "U",
    title: "lift the halt of drills",
    screens: ["drills", "drill"],
    needs: ["cluster"],
    refusal: (_, { halted }) => (halted ? null : "nobody has halted them"),
    confirms: () => "resume",
    command: (_, [reason]) => ["drill", "resume", "--reason", reason!],
  },
  {
    name: "run-checklist",
    key: "R",
    title: "run the checklist",
    screens: ["checklist", "item"],
    needs: ["cluster"],
    withoutReason: true,
    answersReport: true,
    confirms: () => "yes",
    command: () => ["checklist"],
  },
  {
    name: "export-sheet",
    key: "E",
    title: "write the procurement sheet",
    screens: ["capacity"],
    needs: ["cluster"],
    withoutReason: true,
    withoutStore: true,
    asks: () => [question("file", "file to write: .xlsx, .html, .md, .csv or .json", "capacity.xlsx")],
    confirms: () => "yes",
    command: (_, [file]) => ["capacity", "sheet", "--output", file!],
  },
];

const byName = new Map(actions.map((action) => [action.name, action]));

export function actionNamed(name: string): Action | undefined {
  return byName.get(name);
}
