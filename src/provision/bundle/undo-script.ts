/** The script that puts back what a transaction changes: complete before the first change, and free of this program. */
import { changesOf, type HostPlan } from "../plan/host-plan.ts";
import { isActive } from "../plan/kinds/unit.ts";
import type { Step, UserShape } from "../plan/step.ts";
import { isUnknown } from "./reading.ts";
import { shellWord, shellWords } from "./shell-quote.ts";
import undoHead from "./undo.sh";

/** Lines of the script that say what it is about; esc_last in settle.sh looks for them. */
const changeMark = "# change: ";

export interface TransactionFiles {
  /** Number of the kept original and of the staged file of every path that is written or removed. */
  readonly numbers: ReadonlyMap<string, number>;
}

export interface UndoOptions {
  readonly id: string;
  readonly root: string;
  readonly state: string;
  readonly path: string;
  /** Ends the script itself at its n-th step; for tests. */
  readonly stopUndoAt?: number;
}

export function undoScript(
  plan: HostPlan,
  steps: readonly Step[],
  { numbers }: TransactionFiles,
  options: UndoOptions,
): string {
  const lines: string[] = [];
  const call = (name: string, ...words: readonly string[]) =>
    lines.push(`${name} ${shellWords(words)}`.trim());
  const each = (visit: (step: Step) => void) => {
    for (const step of [...steps].reverse()) visit(step);
  };
  // What was started is stopped while its files are still there.
  each((step) => {
    if (step.do === "unit-active" && step.running) call("undo_unit", "stop", step.unit);
  });
  each((step) => {
    if (step.do === "unit-file" && step.verb !== "mask") {
      if (step.undo !== undefined) call("undo_unit", step.undo, step.unit);
      else if (step.verb === "enable") call("undo_unit", "disable", step.unit);
    }
  });
  for (const [path, number] of [...numbers].reverse()) call("undo_path", String(number), options.root + path);
  lines.push("try systemctl daemon-reload");
  each((step) => {
    if (step.do === "unit-file" && step.verb === "mask") call("undo_unit", step.undo ?? "unmask", step.unit);
    if (step.do === "run" && step.undo) call("undo_run", ...step.undo);
    if (step.do === "load-table") call("undo_table", step.table, step.existed ? "yes" : "no", step.file);
  });
  for (const { unit, action } of plan.restarts)
    call("undo_restart", unit, action, wasActive(plan, unit) ? "yes" : "no");
  each((step) => {
    if (step.do === "unit-active" && !step.running) call("undo_unit", "start", step.unit);
  });
  if (steps.some(({ do: what }) => what === "install")) lines.push("undo_packages");
  each((step) => {
    if (step.do === "uninstall") lines.push(reinstall(plan, step.name));
    if (step.do === "add-user") call("undo_user", step.name);
    if (step.do === "change-user") call("try", ...userModify(step.name, step.before));
    if (step.do === "add-group") call("undo_group", step.name);
    if (step.do === "directory") {
      const { before } = step;
      const was = before === "absent" ? [] : [before.owner, before.group, before.mode.toString(8)];
      call("undo_directory", options.root + step.path, ...was);
    }
  });
  lines.push("undo_parents", "undo_done");
  return [
    "#!/bin/sh",
    `# Puts back what transaction ${options.id} changed on this host.`,
    ...changesOf(plan).map(({ resource }) => `${changeMark}${resource.id.replace(/\p{Cc}/gu, "?")}`),
    `ID=${shellWord(options.id)}`,
    `S=${shellWord(options.state)}`,
    `T=${shellWord(`${options.state}/txn/${options.id}`)}`,
    `ESC_ROOT=${shellWord(options.root)}`,
    `ESC_PATH=${shellWord(options.path)}`,
    `ESC_UNDO_STOP_AT=${options.stopUndoAt ?? ""}`,
    undoHead,
    ...lines,
    "",
  ].join("\n");
}

export function userModify(name: string, { group, groups, home, shell }: UserShape): string[] {
  return ["usermod", "-g", group, "-G", groups.join(","), "-d", home, "-s", shell, name];
}

function wasActive({ reading }: HostPlan, name: string): boolean {
  const unit = reading.unit(name);
  return !isUnknown(unit) && isActive(unit);
}

function reinstall(plan: HostPlan, name: string): string {
  const found = plan.reading.package(name);
  const version = typeof found === "object" && "version" in found ? `=${found.version}` : "";
  return `try ${shellWords(["apt-get", "-q", "-y", "--allow-downgrades", "install", `${name}${version}`])}`;
}
