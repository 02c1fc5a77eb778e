/**
 * A control group of its own for every host, in every hierarchy of this machine.
 * Without one all hosts share a single group: systemd inside cannot kill a
 * service's processes, and tests of stopping and draining prove nothing.
 */
import { existsSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";

const mount = "/sys/fs/cgroup";

/** One unified tree (v2 only), instead of one tree a controller. */
export function isUnified(): boolean {
  return existsSync(join(mount, "cgroup.controllers"));
}

/** The tops of all trees in which hosts get a group. A new cpuset group is empty and takes no process. */
export function hierarchies(): string[] {
  if (isUnified()) return [mount];
  if (!existsSync(mount)) return [];
  return readdirSync(mount)
    .filter((name) => name !== "cpuset" && existsSync(join(mount, name, "cgroup.procs")))
    .map((name) => join(mount, name));
}

/**
 * Shell lines that put the shell itself, and so all it starts, into `group`.
 * @param programs what the whole lab counts for where processors are shared: as much as so many programs
 * of this machine. Default: what a new group has, one
 */
export function enterScript(group: string, programs = 1): string {
  const parent = group.split("/").slice(0, -1).join("/");
  const [shares, weight] = [1_024 * programs, Math.min(10_000, 100 * programs)];
  return hierarchies()
    .map((top) => {
      const delegate = isUnified()
        ? `for d in '${top}' '${top}/${parent}'; do for c in memory pids cpu io; do ` +
          `echo "+$c" > "$d/cgroup.subtree_control" 2>/dev/null || :; done; done; `
        : "";
      const count =
        programs === 1
          ? ""
          : `2>/dev/null echo ${shares} > '${top}/${parent}/cpu.shares' || ` +
            `2>/dev/null echo ${weight} > '${top}/${parent}/cpu.weight' || :; `;
      return `mkdir -p '${top}/${parent}'; ${delegate}${count}mkdir -p '${top}/${group}' && echo $$ > '${top}/${group}/cgroup.procs' || exit 71`;
    })
    .join("\n");
}

/** Every process in `group` and below it, in any hierarchy. */
export function processesIn(group: string): number[] {
  const pids = new Set<number>();
  for (const top of hierarchies()) {
    for (const folder of withChildren(join(top, group))) {
      for (const pid of read(join(folder, "cgroup.procs")).split("\n")) {
        if (Number(pid) > 0) pids.add(Number(pid));
      }
    }
  }
  return [...pids];
}

/** Removes `group` and what is below it. @returns false while a process still keeps one of them */
export function removeGroup(group: string): boolean {
  let gone = true;
  for (const top of hierarchies()) {
    for (const folder of withChildren(join(top, group))) {
      try {
        rmdirSync(folder);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOENT") gone = false;
      }
    }
  }
  return gone;
}

/** Names of the groups directly below every hierarchy. */
export function topGroups(): string[] {
  return [...new Set(hierarchies().flatMap(children))];
}

/** The deepest first. */
function withChildren(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return [...children(folder).flatMap((name) => withChildren(join(folder, name))), folder];
}

function children(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
