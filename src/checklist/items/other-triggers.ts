/** What else on a host could start a job: crontabs, timers, at, scripts of cron's folders, other schedulers. */
import type { JobDefinition } from "../../spec/job-definition.ts";
import { type Section, sectionScript } from "./host-sections.ts";

/**
 * Timers that users have of their own: the units they start, without asking whether
 * their manager runs. A timer may name a unit; else it starts the one of its name.
 * @param homes prints the home folders, one a line
 */
export function userTimers(homes: string): string {
  return `for t in /etc/systemd/user/*.timer $(${homes} | sed 's|$|/.config/systemd/user/*.timer|'); do
  [ -f "$t" ] || continue
  unit=$(sed -n 's/^Unit=//p' "$t" | tail -n 1)
  unit=\${unit:-$(basename "$t" .timer).service}
  found=
  for d in "\${t%/*}" /etc/systemd/user /usr/lib/systemd/user; do
    for u in "$d/$unit" "$d/\${unit%%@*}@.service"; do
      if [ -z "$found" ] && [ -f "$u" ]; then found=$u; fi
    done
  done
  if [ -z "$found" ]; then section "unread $unit of $t"; continue; fi
  section "user-timer $t"; cat "$found" || section "unread $found"
done`;
}

/** `/proc` in place of ps: it is there on every host. */
export const triggerScript = sectionScript(`
section hostname; uname -n
[ "$(id -u)" = 0 ] || section "unread what only root may read"
for d in /etc/cron.d /var/spool/cron /var/spool/cron/crontabs; do
  if [ -d "$d" ] && ! ls "$d" >/dev/null 2>&1; then section "unread $d"; fi
done
for f in /etc/crontab /etc/anacrontab /etc/cron.d/* /var/spool/cron/* /var/spool/cron/crontabs/*; do
  [ -f "$f" ] || continue
  section "crontab $f"; cat "$f" || section "unread $f"
done
for f in /etc/cron.hourly/* /etc/cron.daily/* /etc/cron.weekly/* /etc/cron.monthly/*; do
  [ -f "$f" ] || continue
  section "script $f"; head -c 100000 "$f" || section "unread $f"
done
if command -v atq >/dev/null 2>&1; then
  for n in $(atq | cut -f1); do section "at $n"; at -c "$n" || section "unread at $n"; done
fi
if command -v systemctl >/dev/null 2>&1; then
  section timers; systemctl show '*.timer' -p Id -p Unit -p ActiveState --no-pager || section "unread timers"
  section services; systemctl show '*.service' -p Id -p ExecStart --no-pager || section "unread services"
fi
${userTimers("cut -d: -f6 /etc/passwd | sort -u")}
section processes
for p in /proc/[0-9]*; do
  line=$(tr '\\0' ' ' <"$p/cmdline" 2>/dev/null) || continue
  [ -n "$line" ] && printf '%s %s\\n' "\${p#/proc/}" "$line"
done
`);

export interface Trigger {
  /** `crontab /etc/cron.d/pay`, `timer pay.timer`. */
  readonly where: string;
  readonly line: string;
  /** False: a line that is commented out, a timer that does not run. */
  readonly active: boolean;
}

/** Everything that a host would start by itself. */
export function triggersOf(sections: readonly Section[]): readonly Trigger[] {
  const found: Trigger[] = [];
  for (const { title, text } of sections) {
    const kind = title.split(" ", 1)[0];
    if (!["crontab", "script", "at", "user-timer"].includes(kind!)) continue;
    for (const line of joinedLines(text)) {
      if (line.trim() === "") continue;
      found.push({ where: title, line: line.trim(), active: !/^\s*#/.test(line) });
    }
  }
  return [...found, ...timersOf(sections)];
}

/** What the host could not read of its own. One without a process is one whose processes nobody sees. */
export function unreadOf(sections: readonly Section[]): readonly string[] {
  const unread = sections.flatMap(({ title }) =>
    title.startsWith("unread ") ? [title.slice("unread ".length)] : [],
  );
  const processes = sections.find(({ title }) => title === "processes")?.text.trim() ?? "";
  return processes === "" ? [...unread, "its processes"] : unread;
}

function joinedLines(text: string): string[] {
  return text.replace(/\\\n/g, " ").split("\n");
}

function timersOf(sections: readonly Section[]): Trigger[] {
  const blocks = (name: string) =>
    (sections.find(({ title }) => title === name)?.text ?? "").split(/\n\s*\n/).map((block) => {
      const lines = block
        .split("\n")
        .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);
      return {
        get: (key: string) =>
          lines
            .filter(([name]) => name === key)
            .map(([, value]) => value)
            .join("; "),
      };
    });
  const commands = new Map(blocks("services").map((block) => [block.get("Id"), block.get("ExecStart")]));
  return blocks("timers").flatMap((block) => {
    const id = block.get("Id");
    if (id === "") return [];
    const unit = block.get("Unit") || id.replace(/\.timer$/, ".service");
    const line = commands.get(unit) ?? "";
    return line === "" ? [] : [{ where: `timer ${id}`, line, active: block.get("ActiveState") === "active" }];
  });
}

export interface SchedulerProcess {
  readonly pid: number;
  readonly line: string;
}

/** Processes that are a scheduler of this program, whatever they belong to. */
export function schedulersOf(sections: readonly Section[]): readonly SchedulerProcess[] {
  const text = sections.find(({ title }) => title === "processes")?.text ?? "";
  return text.split("\n").flatMap((row) => {
    const match = /^(\d+) ((?:\S*node\s+(?:-\S+\s+)*)?\S*\bescapement(?:\.mjs)?\s+scheduler\b.*)$/.exec(row);
    return match ? [{ pid: Number(match[1]), line: match[2]!.trim() }] : [];
  });
}

/** Programs that run others: their name says nothing about the job. */
const carriers =
  /^(?:.*\/)?(?:sh|bash|dash|zsh|env|node|npx|python[\d.]*|perl|ruby|php|java|psql|curl|wget|timeout|nice|ionice|flock|sudo|true|false|sleep|echo)$/;

type Started = Pick<JobDefinition, "namespace" | "name" | "command" | "workingDirectory">;

/** Whether a line would start the same command as the job, or the job itself. */
export function startsJob(line: string, job: Started): boolean {
  // Hundreds of jobs meet thousands of lines: most have not one word in common.
  if (!needlesOf(job).some((needle) => line.includes(needle))) return false;
  const plain = line.replace(/\s+/g, " ");
  const whole = job.command.join(" ").replace(/\s+/g, " ");
  if (job.command.length > 1 && plain.includes(whole)) return true;
  const label = job.namespace === "default" ? job.name : `${job.namespace}/${job.name}`;
  if (/\bescapement(\.mjs)?\b/.test(plain) && hasWord(plain, label) && /\b(once|run|backfill)\b/.test(plain))
    return true;
  return job.command.some((argument, i) => {
    if (/\s/.test(argument)) return plain.includes(argument.replace(/\s+/g, " ").trim());
    if (isSilent(argument, i)) return false;
    if (!isFile(argument)) return i === 0 && hasWord(plain, argument);
    if (hasWord(plain, argument)) return true;
    // Run from its own folder: cd /opt/pay && node bonus.mjs
    const cut = argument.lastIndexOf("/");
    const folder = cut > 0 ? argument.slice(0, cut) : job.workingDirectory;
    const file = argument.slice(cut + 1);
    if (folder?.startsWith("/") !== true) return false;
    return hasWord(plain, `${folder}/${file}`) || (hasWord(plain, folder) && hasWord(plain, file));
  });
}

function isSilent(argument: string, i: number): boolean {
  return argument.startsWith("-") || (i === 0 && carriers.test(argument));
}

function isFile(argument: string): boolean {
  return argument.includes("/") || /\.(sh|py|mjs|cjs|js|ts|jar|rb|pl|php|sql)$/.test(argument);
}

const needles = new WeakMap<Started, readonly string[]>();

/** One of them is in every line that could start the job. */
function needlesOf(job: Started): readonly string[] {
  let found = needles.get(job);
  if (!found) {
    const words = job.command.flatMap((argument, i) => {
      if (/\s/.test(argument)) return [argument.trim().split(/\s+/, 1)[0]!];
      if (isSilent(argument, i) || (!isFile(argument) && i > 0)) return [];
      return [argument.slice(argument.lastIndexOf("/") + 1)];
    });
    // A command of carriers and options alone is only found whole.
    found = [...(words.length > 0 ? words : [job.command[0]!]), job.name];
    needles.set(job, found);
  }
  return found;
}

function hasWord(line: string, word: string): boolean {
  const quoted = word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(^|[\\s"'=;&|(@]-?)(?:\\./)?${quoted}/?($|[\\s"';&|)>])`).test(line);
}
