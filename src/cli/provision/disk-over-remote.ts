/** Looks at the disk under a folder of a host, and measures it when asked: one exec, nothing left behind. */
import { randomBytes } from "node:crypto";
import { fromValue } from "../../base/fact.ts";
import { unknownDisk } from "../../capacity/acceptance/accept-machine.ts";
import { parseFio, parsePgTestFsync } from "../../capacity/acceptance/disk-output.ts";
import type { DiskFacts } from "../../capacity/acceptance/machine-facts.ts";
import type { Remote } from "../../remote/remote.ts";

const lookDeadlineMs = 20_000;
const measureDeadlineMs = 240_000;

/** Each answer stands between a line with the nonce and its name, and the next one. */
const script = `
folder=$1 nonce=$2 measure=$3
section() { printf '\\n%s %s\\n' "$nonce" "$1"; }
[ -d "$folder" ] || { section missing; section end; exit 0; }
section size; df -B1 --output=size "$folder" | tail -n 1
device=$(findmnt -nro SOURCE --target "$folder" | sed 's/\\[.*//')
kernel=$(lsblk -nro PKNAME "$device" 2>/dev/null | head -n 1)
[ -n "$kernel" ] || kernel=\${device#/dev/}
section device; echo "$kernel"
section cache; cat "/sys/class/block/$kernel/queue/write_cache" 2>/dev/null
section turning; cat "/sys/class/block/$kernel/queue/rotational" 2>/dev/null
if [ "$measure" = yes ]; then
  scratch=$(mktemp -d "$folder/.escapement-measure-XXXXXX") && {
    trap 'rm -rf "$scratch"' EXIT
    trap 'exit 1' HUP INT TERM
    section flushes
    program=$(ls /usr/lib/postgresql/*/bin/pg_test_fsync 2>/dev/null | tail -n 1)
    [ -n "$program" ] && timeout 120 "$program" -s 1 -f "$scratch/fsync" 2>&1
    section writes
    command -v fio >/dev/null && timeout 60 fio --name=escapement --directory="$scratch" --rw=randwrite --bs=8k \\
      --size=64m --direct=1 --ioengine=psync --numjobs=4 --group_reporting --time_based --runtime=1 --output-format=json 2>&1
  }
fi
section end
`;

/** @throws E_HOST_… whatever the connection rejects with */
export async function readDiskOver(remote: Remote, folder: string, measure: boolean): Promise<DiskFacts> {
  const nonce = randomBytes(12).toString("hex");
  const { stdout, stderr } = await remote.exec({
    argv: ["sh", "-s", "--", folder, nonce, measure ? "yes" : "no"],
    stdin: script,
    asRoot: true,
    deadlineMs: measure ? measureDeadlineMs : lookDeadlineMs,
  });
  const sections = new Map<string, string>();
  for (const part of stdout.split(`\n${nonce} `).slice(1)) {
    const end = part.indexOf("\n");
    sections.set(part.slice(0, end < 0 ? undefined : end).trim(), end < 0 ? "" : part.slice(end + 1).trim());
  }
  if (sections.has("missing")) return unknownDisk(`${folder} is not there`);
  if (!sections.has("end"))
    return unknownDisk(`the answer was cut short: ${stderr.trim().slice(0, 120) || "no reason given"}`);
  const size = Number(sections.get("size"));
  const device = sections.get("device") ?? "";
  const cache = sections.get("cache");
  const turning = sections.get("turning");
  const untold = `the kernel does not tell it of ${device || "this device"}`;
  const notMeasured = measure ? "pg_test_fsync is not installed there" : "not measured: add --measure";
  const notWritten = measure ? "fio is not installed there" : "not measured: add --measure";
  return {
    totalBytes: fromValue(Number.isFinite(size) && size > 0 ? size : undefined, "df does not tell"),
    hasVolatileCache: fromValue(cache ? cache === "write back" : undefined, untold),
    powerLossProtection: { unknown: "only the drive's maker can tell" },
    // A virtual disk calls itself turning by default, whatever lies below it.
    isTurning: fromValue(turning && !/^x?vd/.test(device) ? turning === "1" : undefined, untold),
    flushesPerSecond: fromValue(parsePgTestFsync(sections.get("flushes") ?? ""), notMeasured),
    writeIops: fromValue(parseFio(sections.get("writes") ?? "", "write"), notWritten),
  };
}
