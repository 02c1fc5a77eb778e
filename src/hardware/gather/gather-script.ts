/**
 * The one script that reads a host: POSIX sh, one exec, nothing installed and
 * nothing changed; it keeps what commands print in a folder of its own in
 * memory (/run or /dev/shm; else TMPDIR), which it removes at its end.
 *
 * Every line of the frame begins with the nonce, so a banner before it and noise
 * around it do not matter, and a reply without its last line is known to be cut:
 *
 *     NONCE begin 1 UID
 *     NONCE section NAME STATUS BYTES FIRST-BYTES-OF-STDERR
 *     …BYTES bytes, printable ASCII and line ends only…
 *     NONCE close NAME
 *     NONCE end SECTIONS
 *
 * STATUS is the exit code, 124 or 137 after the time limit, "missing" where the
 * program is not installed.
 */
import { type GatherCommand, gatherCommands } from "./commands.ts";
import { raidDiskScript } from "./raid-disk-script.ts";

/** Version of the frame, in its first line. */
export const frameVersion = 1;

/** Longest time limit of one command plus what starting and collecting takes: a deadline for the exec, milliseconds. */
export const gatherDeadlineMs = 60_000;

/**
 * @param nonce letters and digits, new for every run
 * @param raidDisks the part that asks the drives behind RAID controllers
 * @returns the script, to be given to `sh -s` on standard input
 */
export function gatherScript(
  nonce: string,
  commands: readonly GatherCommand[] = gatherCommands,
  raidDisks: string = raidDiskScript(),
): string {
  if (!/^[A-Za-z0-9]{8,64}$/.test(nonce)) throw new RangeError("a nonce is 8 to 64 letters and digits");
  return `${head(nonce)}\n${commands.map(start).join("\n")}\n${raidDisks}\n${tail}`;
}

const head = (nonce: string) => `LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/MegaRAID/storcli:/opt/MegaRAID/perccli:/opt/MegaRAID/MegaCli:/opt/smartstorageadmin/ssacli/bin:/usr/Arcconf
export PATH
umask 077
n=${nonce}
d=
for t in /run /dev/shm "\${TMPDIR:-/tmp}"; do
  d=$(mktemp -d "$t/escapement-facts.XXXXXXXX" 2>/dev/null) && break
done
[ -n "$d" ] || { printf '%s failed no folder for the output\\n' "$n"; exit 1; }
trap 'rm -rf "$d"' EXIT
trap 'exit 1' HUP INT TERM
# run NAME SECONDS PROGRAM ARGUMENT…: in the background, with a time limit
run() {
  name=$1; limit=$2; shift 2
  : >"$d/$name.section"
  if ! command -v "$1" >/dev/null 2>&1; then printf missing >"$d/$name.rc"; return; fi
  if ! command -v timeout >/dev/null 2>&1; then printf untimed >"$d/$name.rc"; return; fi
  (
    trap - EXIT HUP INT TERM
    timeout -k 1 "$limit" "$@" </dev/null >"$d/$name.out" 2>"$d/$name.err"
    printf %s "$?" >"$d/$name.rc"
  ) &
}
# first PROGRAM…: prints the first that is installed, or the first
first() { for p in "$@"; do command -v "$p" >/dev/null 2>&1 && { printf %s "$p"; return; }; done; printf %s "$1"; }`;

function start(command: GatherCommand): string {
  const words = command.argv.map((word) =>
    command.forDisks ? `"${word.replace(/["\\`]/g, "\\$&")}"` : quote(word),
  );
  const program = command.programs ? [`"$(first ${command.programs.map(quote).join(" ")})"`] : [];
  const line = [...program, ...words].join(" ");
  if (!command.forDisks) return `run ${command.name} ${command.limitSeconds} ${line}`;
  return `for b in /sys/block/${command.forDisks}; do
  [ -e "$b" ] || continue
  disk=\${b##*/}
  run ${command.name}:"$disk" ${command.limitSeconds} ${line}
done`;
}

function quote(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Reduces output to bytes that are characters in any encoding, so that the count can be checked on the other side. */
const tail = `wait
printf '%s begin ${frameVersion} %s\\n' "$n" "$(id -u)"
count=0
for s in "$d"/*.section; do
  name=\${s##*/}; name=\${name%.section}
  : >>"$d/$name.out"; : >>"$d/$name.err"
  tr -c '\\011\\012\\015\\040-\\176' '?' <"$d/$name.out" >"$d/$name.text"
  rc=lost
  [ -s "$d/$name.rc" ] && rc=$(cat "$d/$name.rc")
  printf '%s section %s %s %s %s\\n' "$n" "$name" "$rc" "$(wc -c <"$d/$name.text" | tr -d ' ')" "$(head -c 200 "$d/$name.err" | tr -c '\\040-\\176' ' ')"
  cat "$d/$name.text"
  printf '\\n%s close %s\\n' "$n" "$name"
  count=$((count + 1))
done
printf '%s end %s\\n' "$n" "$count"
`;
