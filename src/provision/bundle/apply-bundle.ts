/** A transaction for one host, from the plan's steps: the writing runner, what the plan saw, and the undo script. */
import { createHash } from "node:crypto";
import { type HostPlan, hasChanges, stepsOf } from "../plan/host-plan.ts";
import type { Step } from "../plan/step.ts";
import applyScript from "./apply.sh";
import { bindingLines } from "./binding.ts";
import { protocolVersion } from "./frame.ts";
import { compileHead, compileRead, type Probe } from "./probe.ts";
import readScript from "./read.sh";
import { type Bundle, newNonce } from "./read-bundle.ts";
import serviceScript from "./service.sh";
import { shellWord, shellWords } from "./shell-quote.ts";
import { undoScript, userModify } from "./undo-script.ts";

export interface ApplyOptions {
  /** Of the transaction; sorts by time. */
  readonly id: string;
  /** Seconds after the first rename within which the host must be confirmed. */
  readonly confirmSeconds: number;
  /** A command that ends with 0 on the active scheduler and with 1 elsewhere. Without it nobody knows. */
  readonly activeScheduler?: readonly string[];
  /** Seconds to wait for a lock of apt or dpkg. */
  readonly lockSeconds?: number;
  /** For tests: searched before the system's own programs; where runner and undo script kill themselves. */
  readonly path?: string;
  readonly stopAt?: number;
  readonly stopUndoAt?: number;
}

/** Time for packages; the host reverts when they have not come in it. */
const packageSeconds = 900;
/** Time for everything else before the first rename. */
const prepareSeconds = 120;

export function applyBundle(plan: HostPlan, probes: readonly Probe[], options: ApplyOptions): Bundle {
  if (!hasChanges(plan)) throw new Error("a plan without changes is not applied");
  const { root, state } = plan.reading.paths;
  const paths = plan.reading.paths;
  const steps = stepsOf(plan);
  const numbers = new Map<string, number>();
  for (const step of steps)
    if ("path" in step && step.do !== "directory" && !numbers.has(step.path))
      numbers.set(step.path, numbers.size);
  const nonce = newNonce();
  const read = compileRead(probes, paths);
  const undo = undoScript(plan, steps, { numbers }, { root, state, path: "", ...options });
  const observe = [
    compileHead({ nonce, version: protocolVersion, paths, ...(options.path && { path: options.path }) }),
    readScript,
    read,
    "esc_read </dev/null | grep -v '^pending' | esc_clean | esc_binding",
  ].join("\n");
  const script = [
    compileHead({ nonce, version: protocolVersion, paths, ...(options.path && { path: options.path }) }),
    `ID=${shellWord(options.id)}`,
    "T=",
    `ESC_STOP_AT=${options.stopAt ?? ""}`,
    `ESC_PACKAGE_LIMIT=${packageSeconds}`,
    readScript,
    applyScript,
    serviceScript,
    read,
    activeSchedulerFunction(options.activeScheduler),
    printer("esc_expected", bindingLines(plan.reading.lines).join("\n")),
    printer("esc_undo_script", undo),
    printer("esc_observe_script", observe),
    "esc_main() {",
    ...mainLines(plan, steps, numbers, options, root),
    "}",
    "esc_main </dev/null",
    "",
  ].join("\n");
  return { script, nonce };
}

function mainLines(
  plan: HostPlan,
  steps: readonly Step[],
  numbers: ReadonlyMap<string, number>,
  options: ApplyOptions,
  root: string,
): string[] {
  const lines: string[] = [];
  const call = (name: string, ...words: readonly (string | number)[]) =>
    lines.push(`${name} ${shellWords(words.map(String))}`.trim());
  const each = <D extends Step["do"]>(what: D, visit: (step: Extract<Step, { do: D }>) => void) => {
    for (const step of steps) if (step.do === what) visit(step as Extract<Step, { do: D }>);
  };
  const number = (path: string) => numbers.get(path) ?? 0;
  const some = (...what: readonly Step["do"][]) => steps.some((step) => what.includes(step.do));

  lines.push("esc_begin", "esc_open");
  each("place", ({ path, content }) => lines.push(...payload(number(path), content)));
  for (const [path, n] of numbers) call("esc_keep", n, root + path);
  lines.push("esc_prepared");
  const packages = some("install", "uninstall");
  call("esc_arm", (packages ? packageSeconds : 0) + prepareSeconds + options.confirmSeconds, "a");
  lines.push("esc_arm_boot");

  if (packages) {
    lines.push("esc_hold_services");
    const wait = String(options.lockSeconds ?? 60);
    const installs: string[] = [];
    each("install", ({ name, version }) =>
      installs.push(version === undefined ? name : `${name}=${version}`),
    );
    if (installs.length > 0) call("esc_install", wait, "install", ...installs);
    const removals: string[] = [];
    each("uninstall", ({ name }) => removals.push(name));
    if (removals.length > 0) call("esc_install", wait, "remove", ...removals);
    lines.push("esc_release_services");
  }
  each("add-group", ({ name, system }) => {
    call("esc_run", `add group ${name}`, "groupadd", ...(system ? ["-r"] : []), name);
    call("p", `group ${name}`);
  });
  each("add-user", ({ name, system, group, groups, home, shell }) => {
    const words = [
      ...(system ? ["-r"] : []),
      "-M",
      "-N",
      "-g",
      group,
      "-G",
      groups.join(","),
      "-d",
      home,
      "-s",
      shell,
    ];
    call("esc_run", `add user ${name}`, "useradd", ...words, name);
    call("p", `user ${name}`);
  });
  each("change-user", ({ name, now }) => {
    call("esc_run", `change user ${name}`, ...userModify(name, now));
    call("p", `user ${name}`);
  });
  each("directory", ({ path, owner, group, mode }) => {
    const at = root + path;
    call("esc_parents", at);
    call(
      "esc_run",
      `make ${path}`,
      "install",
      "-d",
      "-o",
      owner,
      "-g",
      group,
      "-m",
      mode.toString(8),
      "--",
      at,
    );
    call("p", `directory ${path}`);
  });
  each("place", ({ path, owner, group, mode }) =>
    call("esc_stage", number(path), root + path, owner, group, mode.toString(8)),
  );
  each("link", ({ path, target }) => call("esc_stage_link", number(path), root + path, target));
  each("place", ({ path, validator }) => {
    if (!validator) return;
    call("esc_check_copy", number(path), root + path);
    const copy = `"$T"${shellWord(`/check/${number(path)}/${path.slice(path.lastIndexOf("/") + 1)}`)}`;
    const words = validator.argv.map((word) =>
      word
        .split("{file}")
        .map((piece) => (piece === "" ? "" : shellWord(piece)))
        .join(copy),
    );
    lines.push(`esc_run ${shellWord(`${validator.name} refuses ${path}`)} ${words.join(" ")}`);
    call("p", `valid ${path}`);
  });

  for (const { unit, action, reason } of plan.restarts)
    call("esc_pending", unit, action, plainReason(reason));
  call("esc_arm", options.confirmSeconds, "b");
  lines.push("esc_renaming");
  each("place", ({ path }) => call("esc_rename", number(path), root + path));
  each("link", ({ path }) => call("esc_rename", number(path), root + path));
  each("remove", ({ path }) => call("esc_remove", root + path));
  if ([...numbers.keys()].some((path) => path.includes("/systemd/")) || packages) {
    call("esc_run", "daemon-reload", "systemctl", "daemon-reload");
    call("p", "daemon-reload");
  }
  each("run", ({ name, argv }) => {
    call("esc_run", name, ...argv);
    call("p", name);
  });
  each("check", ({ name, argv }) => call("esc_run", name, ...argv));
  each("load-table", ({ table, file }) => call("esc_load_table", table, file));
  each("unit-file", ({ verb, unit }) => call("esc_unit_file", verb, unit));
  const started = new Set<string>();
  const due = new Map(plan.restarts.map((restart) => [restart.unit, restart]));
  each("unit-active", ({ unit, running }) => {
    // What it comes after must have read its new files: chrony-wait would wait for the old sources.
    for (const first of running ? unitsBefore(plan, unit) : []) {
      const restart = started.has(first) ? undefined : due.get(first);
      if (restart) call("esc_restart", first, restart.action, restart.unless ?? "");
      if (restart) due.delete(first);
    }
    call("esc_unit_active", running ? "start" : "stop", unit);
    started.add(unit);
  });
  const active = new Set<string>();
  each("unit-active", ({ unit, running }) => running && active.add(unit));
  for (const { unit, action, unless } of due.values()) {
    // It has just been started, with its new files; or it was stopped, and has nothing to read.
    if (started.has(unit)) call("esc_restarted", unit);
    else call("esc_restart", unit, action, unless ?? "");
  }
  for (const { resource } of plan.entries)
    if (
      resource.kind === "unit" &&
      resource.running &&
      plan.restarts.some(({ unit }) => unit === resource.name)
    )
      active.add(resource.name);
  if (active.size > 0) call("esc_probe", ...active);
  lines.push("esc_applied");
  return lines;
}

/** The units that a unit's resource names as those it comes after. */
function unitsBefore(plan: HostPlan, unit: string): readonly string[] {
  const found = plan.entries.find(({ resource }) => resource.id === `unit:${unit}`);
  return (found?.resource.after ?? []).flatMap((id) => (id.startsWith("unit:") ? [id.slice(5)] : []));
}

/** Pending restarts keep their first reason, not a chain of "restart pending". */
function plainReason(reason: string): string {
  return reason.replace(/^(?:restart pending: )+/, "");
}

function payload(number: number, content: string): string[] {
  const bytes = Buffer.from(content, "utf8");
  const sum = createHash("sha256").update(bytes).digest("hex");
  const lines = bytes.toString("base64").match(/.{1,76}/g) ?? [];
  return [`esc_payload ${number} ${sum} <<'ESC_PAYLOAD'`, ...lines, "ESC_PAYLOAD"];
}

function printer(name: string, text: string): string {
  if (text === "") return `${name}() {\n:\n}`;
  return `${name}() {\ncat <<'ESC_TEXT'\n${text.replace(/\n$/, "")}\nESC_TEXT\n}`;
}

function activeSchedulerFunction(command: readonly string[] | undefined): string {
  const run = command ? `timeout 10 ${shellWords(command)} >/dev/null 2>&1 9>&-` : "return 2";
  return `esc_active_scheduler() {\n  ${run}\n}`;
}
