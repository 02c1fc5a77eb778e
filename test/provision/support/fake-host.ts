/**
 * A host in a folder: files below it are real, and so is the shell; systemd is
 * a small script that keeps its units in files. What a service runs with is
 * copied at each start, so that a lost restart shows.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type Answer, parseAnswer } from "../../../src/provision/bundle/frame.ts";
import { type HostPaths, hostPaths } from "../../../src/provision/bundle/probe.ts";
import type { Bundle } from "../../../src/provision/bundle/read-bundle.ts";
import { localShell } from "./local-remote.ts";

const systemctl = `#!/bin/sh
root=@ROOT@
now() { read -r up rest </proc/uptime; printf '%s0000\\n' "$(printf '%s' "$up" | tr -d .)"; }
load() { file=disabled active=inactive since=0 conf=; load=not-found; [ ! -f "$root/units/$1" ] || { load=loaded; . "$root/units/$1"; }; }
save() { printf 'file=%s active=%s since=%s conf=%s\\n' "$file" "$active" "$since" "$conf" >"$root/units/$1"; }
begin() { active=active; since=$(now); [ -z "$conf" ] || cp "$root$conf" "$root/running/$1" 2>/dev/null || rm -f "$root/running/$1"; }
verb=; quiet=; words=; value=
for word; do case $word in
  --quiet) quiet=1;; --value) value=1;; --*) ;; -p) ;; --) ;; Id,*|LoadState) ;;
  *) [ -n "$verb" ] && words="$words $word" || verb=$word;; esac; done
[ "$verb" = show ] || printf '%s\\n' "$verb$words" >>"$root/log"
code=0
for unit in $words; do
  case $unit in escapement-revert-*)
    case $verb in is-active) [ -e "$root/timers/$unit" ] || code=3;; stop) rm -f "$root/timers/$unit";; esac; continue;; esac
  load "$unit"
  case $verb in
    show) if [ -n "$value" ]; then echo "$load"; else
      printf 'Id=%s\\nNames=%s\\nLoadState=%s\\nActiveState=%s\\nUnitFileState=%s\\nActiveEnterTimestampMonotonic=%s\\n\\n' "$unit" "$unit" "$load" "$active" "$file" "$since"; fi; continue;;
    is-active) [ -n "$quiet" ] || echo "$active"; [ "$active" = active ] || code=3; continue;;
    enable|disable|mask) file=\${verb}d; [ $verb != mask ] || file=masked;;
    unmask) file=disabled;;
    start|restart|reload-or-restart) if [ -e "$root/refuse-$unit" ] && grep -q bad "$root$conf"; then active=failed; save "$unit"; echo "$unit failed to start" >&2; exit 1; fi; begin "$unit";;
    try-restart|try-reload-or-restart) if [ "$active" = active ]; then
      if [ -e "$root/refuse-$unit" ] && grep -q bad "$root$conf"; then active=failed; save "$unit"; echo "$unit failed to start" >&2; exit 1; fi; begin "$unit"; fi;;
    stop) active=inactive; rm -f "$root/running/$unit";;
  esac
  save "$unit"
done
exit $code
`;
const systemdRun = `#!/bin/sh
for word; do case $word in --unit=*) unit=\${word#--unit=};; --on-active=*) after=\${word#--on-active=};; esac; done
printf '%s\\n' "$after" >"@ROOT@/timers/$unit.timer"
`;

export class FakeHost {
  readonly root: string;
  readonly paths: HostPaths;
  readonly bin: string;

  constructor(from?: FakeHost) {
    this.root = mkdtempSync(join(tmpdir(), "escapement-host-"));
    this.paths = hostPaths(this.root);
    this.bin = join(this.root, "bin");
    if (from)
      cpSync(from.root, this.root, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    for (const folder of [
      "bin",
      "units",
      "running",
      "timers",
      "etc/systemd/system/multi-user.target.wants",
      "run/systemd/system",
      "usr/sbin",
    ])
      mkdirSync(join(this.root, folder), { recursive: true });
    this.program("systemctl", systemctl);
    this.program("systemd-run", systemdRun);
    // A journal and a sync that cost nothing: power is never lost in a folder.
    this.program("sync", "#!/bin/sh\nexit 0\n");
  }

  program(name: string, script: string): void {
    writeFileSync(join(this.bin, name), script.replaceAll("@ROOT@", this.root));
    chmodSync(join(this.bin, name), 0o755);
  }

  write(path: string, content: string, mode = 0o644): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), content);
    chmodSync(join(this.root, path), mode);
  }

  text(path: string): string | undefined {
    const at = join(this.root, path);
    return existsSync(at) ? readFileSync(at, "utf8") : undefined;
  }

  /** A service that runs with what its file says now. */
  service(unit: string, conf: string, state: { file?: string; active?: string } = {}): void {
    const { file = "enabled", active = "active" } = state;
    const up = readFileSync("/proc/uptime", "utf8").split(" ")[0]!.replace(".", "");
    writeFileSync(
      join(this.root, "units", unit),
      `file=${file} active=${active} since=${up}0000 conf=${conf}\n`,
    );
    const text = this.text(conf);
    if (active === "active" && text !== undefined) writeFileSync(join(this.root, "running", unit), text);
  }

  async run(bundle: Bundle): Promise<Answer> {
    const { stdout, stderr } = await localShell().exec({
      argv: ["sh", "-s"],
      stdin: bundle.script,
      deadlineMs: 60_000,
    });
    if (stderr !== "") throw new Error(`the runner wrote to standard error: ${stderr}`);
    return parseAnswer(stdout, bundle.nonce);
  }

  /** The timers that are armed, with their seconds. */
  timers(): Record<string, string> {
    const folder = join(this.root, "timers");
    return Object.fromEntries(
      readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8").trim()]),
    );
  }

  transactions(): string[] {
    const folder = join(this.paths.state, "txn");
    return existsSync(folder) ? readdirSync(folder).sort() : [];
  }

  /** What the timer, or the unit at boot, does. */
  async undo(mode: "timer" | "boot"): Promise<void> {
    for (const id of this.transactions()) {
      const script = join(this.paths.state, "txn", id, "undo.sh");
      if (existsSync(script)) await localShell().exec({ argv: ["sh", script, mode], deadlineMs: 60_000 });
    }
  }

  /** Power was lost: timers are gone, enabled services start with what is on disk, and it is another boot. */
  async powerCycle(): Promise<void> {
    rmSync(join(this.root, "timers"), { recursive: true });
    mkdirSync(join(this.root, "timers"));
    for (const unit of readdirSync(join(this.root, "units"))) {
      const line = readFileSync(join(this.root, "units", unit), "utf8");
      const conf = /conf=(\S*)/.exec(line)?.[1] ?? "";
      const enabled = line.includes("file=enabled");
      this.service(unit, conf, {
        file: /file=(\S*)/.exec(line)![1]!,
        active: enabled ? "active" : "inactive",
      });
      if (!enabled) rmSync(join(this.root, "running", unit), { force: true });
    }
    for (const id of this.transactions())
      writeFileSync(join(this.paths.state, "txn", id, "boot-id"), "another boot\n");
    const wants = join(this.root, "etc/systemd/system/multi-user.target.wants");
    for (const name of readdirSync(wants).filter((one) => one.startsWith("escapement-revert-"))) {
      const unit = readFileSync(join(wants, name), "utf8");
      const command = /^ExecStart=(.*)$/m.exec(unit)![1]!.split(" ");
      await localShell().exec({ argv: command, deadlineMs: 60_000 });
    }
  }

  /** Everything that a change may touch: content, owner, mode and time of files, units, and what services run with. */
  snapshot(): Record<string, string> {
    const seen: Record<string, string> = {};
    const visit = (folder: string) => {
      for (const entry of readdirSync(join(this.root, folder), { withFileTypes: true })) {
        const path = `${folder}/${entry.name}`;
        const at = join(this.root, path);
        if (entry.isDirectory()) {
          seen[path] = `directory ${statSync(at).mode.toString(8)}`;
          visit(path);
        } else if (entry.isSymbolicLink()) seen[path] = "link";
        else {
          const { mode, uid, gid, mtimeMs } = statSync(at);
          seen[path] =
            `${mode.toString(8)} ${uid} ${gid} ${Math.floor(mtimeMs / 1000)} ${readFileSync(at, "utf8")}`;
        }
      }
    };
    for (const folder of ["etc", "usr"]) visit(folder);
    for (const unit of readdirSync(join(this.root, "units"))) {
      seen[`unit ${unit}`] = readFileSync(join(this.root, "units", unit), "utf8").replace(/since=\S*/, "");
      seen[`running ${unit}`] = this.text(`running/${unit}`) ?? "stopped";
    }
    const pending = join(this.paths.state, "pending-restarts");
    seen.pending = existsSync(pending)
      ? readdirSync(pending)
          .filter((one) => !one.startsWith("."))
          .join(" ")
      : "";
    return seen;
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
