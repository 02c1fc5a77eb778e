/** What is read on a host: each piece with its own time limit, so that one slow controller costs only its own answer. */

export interface GatherCommand {
  /** Name of the section; for a piece per disk, its prefix. */
  readonly name: string;
  readonly limitSeconds: number;
  /** A program with arguments; in a piece per disk, `$disk` is the kernel's name of the disk. */
  readonly argv: readonly string[];
  /** Names of programs that do the same; the first that is installed is used. */
  readonly programs?: readonly string[];
  /** Once for every disk whose name matches this shell pattern. */
  readonly forDisks?: string;
}

/** Reads files with the shell's own `read`: no process per file. `field NAME FILE` prints `NAME=first line`. */
const fieldFunction = `field() { v=; if [ -r "$2" ]; then IFS= read -r v <"$2"; printf '%s=%s\\n' "$1" "$v"; fi; } 2>/dev/null
`;

const blockScript = `${fieldFunction}for d in /sys/block/*; do
  n=\${d##*/}
  case $n in loop*|ram*|zram*|sr*|fd*|nbd*) continue ;; esac
  printf 'disk %s\\n' "$n"
  field size "$d/size"
  field rotational "$d/queue/rotational"
  field write_cache "$d/queue/write_cache"
  field scheduler "$d/queue/scheduler"
  printf 'path=%s\\n' "$(readlink "$d")"
done`;

const nicScript = `${fieldFunction}for d in /sys/class/net/*; do
  n=\${d##*/}
  [ -d "$d" ] && [ "$n" != lo ] || continue
  printf 'nic %s\\n' "$n"
  field speed "$d/speed"
  field carrier "$d/carrier"
  field numa_node "$d/device/numa_node"
  field address "$d/address"
  if [ -e "$d/device" ]; then echo physical=1; else echo physical=0; fi
done`;

const nodeScript = `${fieldFunction}for d in /sys/devices/system/node/node[0-9]*; do
  [ -d "$d" ] || continue
  printf 'node=%s\\n' "\${d##*/node}"
  field cpus "$d/cpulist"
  while read -r a b c kb rest; do case $c in MemTotal:) printf 'memory=%s\\n' "$kb" ;; esac; done <"$d/meminfo"
done`;

const clockScript = `${fieldFunction}d=/sys/devices/system/clocksource/clocksource0
field current $d/current_clocksource
field available $d/available_clocksource`;

/** Settings that profiles set and findings read. */
export const sysctlNames: readonly string[] = [
  "vm.swappiness",
  "vm.dirty_background_bytes",
  "vm.dirty_bytes",
  "vm.dirty_background_ratio",
  "vm.dirty_ratio",
  "vm.overcommit_memory",
  "vm.overcommit_ratio",
  "vm.zone_reclaim_mode",
  "vm.min_free_kbytes",
  "vm.nr_hugepages",
  "kernel.numa_balancing",
  "kernel.pid_max",
  "kernel.threads-max",
  "fs.file-max",
  "fs.inotify.max_user_watches",
  "net.core.somaxconn",
];

/** By cat: these files answer one read only, and the shell's own reads a byte at a time. */
const sysctlScript = `${sysctlNames
  .map((name) => `v=$(cat /proc/sys/${name.replaceAll(".", "/")} 2>/dev/null) && printf '${name}=%s\\n' "$v"`)
  .join("\n")}
exit 0`;

/** Processes of containers on this host show here too; only those of the host's own namespace count. */
const timeDaemonScript = `own=$(readlink /proc/self/ns/pid)
for p in /proc/[0-9]*; do
  n=
  IFS= read -r n <"$p/comm" || continue
  case $n in chronyd|ntpd|ntpsec|openntpd|systemd-timesyn) ;; *) continue ;; esac
  ns=$(readlink "$p/ns/pid") && [ "$ns" != "$own" ] && continue
  printf '%s\\n' "$n"
done 2>/dev/null
exit 0`;

/** Main file first, then what distributions include from it. */
const chronyConfScript = `for f in /etc/chrony/chrony.conf /etc/chrony.conf /etc/chrony/conf.d/*.conf /etc/chrony.d/*.conf /etc/chrony/sources.d/*.sources; do
  [ -r "$f" ] && { cat "$f"; echo; }
done
exit 0`;

const zoneScript = `readlink /etc/localtime || { [ -r /etc/timezone ] && cat /etc/timezone; }`;

/** PCI class 0104 is a RAID controller. */
const raidScript = `[ -d /sys/bus/pci/devices ] && echo bus
for f in /sys/bus/pci/devices/*/class; do
  [ -r "$f" ] || continue
  IFS= read -r c <"$f"
  case $c in 0x0104*) printf 'raid %s\\n' "$f" ;; esac
done
exit 0`;

const bondScript = `for f in /proc/net/bonding/*; do
  [ -r "$f" ] || continue
  printf 'bond %s\\n' "\${f##*/}"
  cat "$f"
done
exit 0`;

const shell = (script: string): readonly string[] => ["sh", "-c", script];

export const gatherCommands: readonly GatherCommand[] = [
  { name: "uname", limitSeconds: 5, argv: shell("uname -r; uname -m; uname -n") },
  { name: "os-release", limitSeconds: 5, argv: ["cat", "/etc/os-release"] },
  { name: "boot-id", limitSeconds: 5, argv: ["cat", "/proc/sys/kernel/random/boot_id"] },
  { name: "systemd", limitSeconds: 5, argv: ["systemctl", "--version"] },
  { name: "virtualization", limitSeconds: 5, argv: shell("systemd-detect-virt; exit 0") },
  { name: "lscpu", limitSeconds: 10, argv: ["lscpu", "-J"] },
  { name: "lscpu-text", limitSeconds: 10, argv: ["lscpu"] },
  { name: "nodes", limitSeconds: 5, argv: shell(nodeScript) },
  { name: "meminfo", limitSeconds: 5, argv: ["cat", "/proc/meminfo"] },
  { name: "huge-pages", limitSeconds: 5, argv: ["cat", "/sys/kernel/mm/transparent_hugepage/enabled"] },
  { name: "sysctl", limitSeconds: 5, argv: shell(sysctlScript) },
  { name: "dmidecode", limitSeconds: 10, argv: ["dmidecode", "-t", "1,16,17,39"] },
  { name: "block", limitSeconds: 5, argv: shell(blockScript) },
  {
    name: "lsblk",
    limitSeconds: 10,
    argv: ["lsblk", "-J", "-b", "-o", "NAME,TYPE,SIZE,ROTA,TRAN,MODEL,MOUNTPOINT"],
  },
  { name: "mdstat", limitSeconds: 5, argv: ["cat", "/proc/mdstat"] },
  { name: "smartctl", limitSeconds: 15, argv: ["smartctl", "-j", "-x", "/dev/$disk"], forDisks: "sd*" },
  { name: "smartctl", limitSeconds: 15, argv: ["smartctl", "-j", "-x", "/dev/$disk"], forDisks: "nvme*n*" },
  {
    name: "nvme-id",
    limitSeconds: 10,
    argv: ["nvme", "id-ctrl", "/dev/$disk", "-o", "json"],
    forDisks: "nvme*n*",
  },
  {
    name: "nvme-smart",
    limitSeconds: 10,
    argv: ["nvme", "smart-log", "/dev/$disk", "-o", "json"],
    forDisks: "nvme*n*",
  },
  // A drive without this page refuses it, and says so.
  {
    name: "nvme-ocp",
    limitSeconds: 10,
    argv: ["nvme", "ocp", "smart-add-log", "/dev/$disk", "-o", "json"],
    forDisks: "nvme*n*",
  },
  { name: "raid-cards", limitSeconds: 5, argv: shell(raidScript) },
  {
    name: "storcli",
    limitSeconds: 30,
    programs: ["storcli64", "storcli"],
    argv: ["/call", "show", "all", "J"],
  },
  {
    name: "perccli",
    limitSeconds: 30,
    programs: ["perccli64", "perccli"],
    argv: ["/call", "show", "all", "J"],
  },
  {
    name: "ssacli",
    limitSeconds: 30,
    programs: ["ssacli", "hpssacli"],
    argv: ["ctrl", "all", "show", "config", "detail"],
  },
  {
    name: "megacli",
    limitSeconds: 30,
    programs: ["MegaCli64", "megacli"],
    argv: ["-AdpBbuCmd", "-aAll", "-NoLog"],
  },
  {
    name: "megacli-volumes",
    limitSeconds: 30,
    programs: ["MegaCli64", "megacli"],
    argv: ["-LDInfo", "-LAll", "-aAll", "-NoLog"],
  },
  { name: "arcconf", limitSeconds: 30, argv: ["arcconf", "getconfig", "1"] },
  { name: "ipmitool", limitSeconds: 8, argv: ["ipmitool", "-c", "sdr", "type", "Power Supply"] },
  { name: "nics", limitSeconds: 5, argv: shell(nicScript) },
  { name: "bonds", limitSeconds: 5, argv: shell(bondScript) },
  { name: "clock-source", limitSeconds: 5, argv: shell(clockScript) },
  { name: "timedatectl", limitSeconds: 8, argv: ["timedatectl", "show"] },
  { name: "zone", limitSeconds: 5, argv: shell(zoneScript) },
  { name: "adjtime", limitSeconds: 5, argv: ["cat", "/etc/adjtime"] },
  { name: "time-daemons", limitSeconds: 5, argv: shell(timeDaemonScript) },
  { name: "chronyc-tracking", limitSeconds: 5, argv: ["chronyc", "-n", "-c", "tracking"] },
  { name: "chronyc-sources", limitSeconds: 5, argv: ["chronyc", "-n", "-c", "sources"] },
  { name: "chrony-conf", limitSeconds: 5, argv: shell(chronyConfScript) },
];
