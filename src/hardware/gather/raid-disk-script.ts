/**
 * The part of the gather script that asks the drives behind RAID controllers:
 * the kernel shows their volumes alone, and only smartctl, told which of the
 * controller's drives is meant, reaches one. Its section `raid-disks` has a line
 * each for what was found, and every drive has a section `smartctl-raid:NUMBER`:
 *
 *     bus                         the kernel shows a PCI bus
 *     card DRIVER                 a RAID controller on it; "none" where no driver has it
 *     tool missing                there is no smartctl, or no timeout: nothing is asked
 *     asked DRIVER                its drives were looked for, to the end
 *     failed DRIVER STATUS        they could not be looked for
 *     disk NUMBER TYPE DEVICE     was asked with smartctl -d TYPE DEVICE
 *     late                        time or numbers ended before the drives did
 *
 * Which drives there are:
 *   megaraid_sas          `smartctl --scan` lists them, as /dev/bus/N -d megaraid,M
 *   hpsa, smartpqi        cciss,0 and on: a number beyond the last does not open, nor does a dead drive
 *   arcmsr                areca,1 to areca,24 are slots, which may be empty, at the controller's own device
 * (smartctl(8)). Of other drivers nothing is asked.
 */

/** Drives are asked so many at once: a controller answers them one by one anyway. */
const atOnce = 8;
const mostDisks = 64;

export interface RaidDiskLimits {
  /** Where /sys is. */
  readonly sys: string;
  /** No drive is begun later than this; with its own limit the last ends well before the deadline of the exec. */
  readonly startSeconds: number;
  readonly scanSeconds: number;
  /** For finding out whether there is a drive. */
  readonly openSeconds: number;
  readonly diskSeconds: number;
}

const usual: RaidDiskLimits = {
  sys: "/sys",
  startSeconds: 25,
  scanSeconds: 10,
  openSeconds: 4,
  diskSeconds: 15,
};

/** @param limits tests have others */
export function raidDiskScript(limits: Partial<RaidDiskLimits> = {}): string {
  const { sys, startSeconds, scanSeconds, openSeconds, diskSeconds } = { ...usual, ...limits };
  return `: >"$d/raid-disks.section"
(
  trap - EXIT HUP INT TERM
  up() { IFS=. read -r seconds _ </proc/uptime; }
  up; end=$((seconds + ${startSeconds})); count=0; stopped=
  # ask TYPE DEVICE
  ask() {
    up
    if [ "$seconds" -ge "$end" ] || [ "$count" -ge ${mostDisks} ]; then stopped=1; return; fi
    printf 'disk %s %s %s\\n' "$count" "$1" "$2"
    run smartctl-raid:$count ${diskSeconds} smartctl -j -x -d "$1" "$2"
    count=$((count + 1))
    [ $((count % ${atOnce})) -ne 0 ] || wait
  }
  # opens TYPE DEVICE: bits 0 and 1 of the status say that there is no such drive; beyond them are the limits of timeout
  opens() {
    timeout -k 1 ${openSeconds} smartctl -i -d "$1" "$2" </dev/null >/dev/null 2>&1; rc=$?
    case $rc in 124 | 137) stopped=1; return 1 ;; esac
    [ $((rc & 3)) -eq 0 ]
  }
  # device_of HOST TYPE: the generic device of that SCSI type behind a host, or the first where the type is empty
  device_of() {
    for g in ${sys}/class/scsi_generic/sg*; do
      case $(readlink -f "$g/device") in */"$1"/*) ;; *) continue ;; esac
      t=; [ -z "$2" ] || { IFS= read -r t <"$g/device/type"; } 2>/dev/null
      [ "$t" = "$2" ] && { printf '/dev/%s' "\${g##*/}"; return; }
    done
  }
  # numbers DRIVER TYPE FIRST LAST MISSES DEVICE: asks TYPE,FIRST and on, until so many in a row do not open
  numbers() {
    if [ -z "$6" ]; then printf 'failed %s nodevice\\n' "$1"; return; fi
    i=$3; missed=0
    while [ "$i" -le "$4" ] && [ "$missed" -lt "$5" ] && [ -z "$stopped" ]; do
      up; [ "$seconds" -lt "$end" ] || { stopped=1; break; }
      if opens "$2,$i" "$6"; then
        # Slots may be empty; a number that is left out is a drive that does not answer.
        while [ "$2" = cciss ] && [ "$missed" -gt 0 ]; do ask "$2,$((i - missed))" "$6"; missed=$((missed - 1)); done
        missed=0
        ask "$2,$i" "$6"
      else missed=$((missed + 1)); fi
      i=$((i + 1))
    done
    [ -n "$stopped" ] || printf 'asked %s\\n' "$1"
  }
  {
    [ -d ${sys}/bus/pci/devices ] && echo bus
    scan=
    for f in ${sys}/bus/pci/devices/*/class; do
      { IFS= read -r c <"$f"; } 2>/dev/null || continue
      case $c in 0x0104* | 0x0107*) ;; *) continue ;; esac
      driver=$(readlink "\${f%/class}/driver"); driver=\${driver##*/}
      # Class 0107 is a plain adapter, and what some RAID controllers call themselves.
      case $c,$driver in 0x0107*,megaraid_sas | 0x0107*,hpsa | 0x0107*,smartpqi | 0x0107*,arcmsr | 0x0107*,aacraid | 0x0104*) ;; *) continue ;; esac
      printf 'card %s\\n' "\${driver:-none}"
      [ "$driver" != megaraid_sas ] || scan=1
    done
    if ! command -v smartctl >/dev/null 2>&1 || ! command -v timeout >/dev/null 2>&1; then
      echo 'tool missing'; scan=
    elif [ -n "$scan" ]; then
      timeout -k 1 ${scanSeconds} smartctl --scan </dev/null >"$d/raid-scan" 2>/dev/null; rc=$?
      while read -r device flag type _; do
        case $device,$flag,$type in /dev/*,-d,megaraid,[0-9]*) ask "$type" "$device" ;; esac
      done <"$d/raid-scan"
      if [ $rc -ne 0 ]; then printf 'failed megaraid_sas %s\\n' $rc
      elif [ -z "$stopped" ]; then echo 'asked megaraid_sas'; fi
    fi
    for h in ${sys}/class/scsi_host/host*; do
      [ -e "$h" ] || continue
      command -v smartctl >/dev/null 2>&1 && command -v timeout >/dev/null 2>&1 || break
      driver=$(readlink "$h/device/../driver"); driver=\${driver##*/}
      case $driver in
        hpsa | smartpqi) numbers "$driver" cciss 0 31 3 "$(device_of "\${h##*/}" '')" ;;
        arcmsr) numbers "$driver" areca 1 24 24 "$(device_of "\${h##*/}" 3)" ;;
      esac
    done
    [ -z "$stopped" ] || echo late
    wait
  } >"$d/raid-disks.out"
  rm -f "$d/raid-scan"
  printf 0 >"$d/raid-disks.rc"
) &`;
}
