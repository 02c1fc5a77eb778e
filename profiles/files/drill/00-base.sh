#!/bin/sh
# A drill on this host: one fault, held for a while, and taken back. Whoever
# may log in as escapement-drill runs this program and nothing else; it says
# who may begin what, does the whole drill without anybody's help, and puts
# back what it changed even if every process of it is killed on the way.
#
#   over ssh (SSH_ORIGINAL_COMMAND), or as root with the same words:
#     look [time] [unit=U]… [path=P]…   what is here, and what can be done
#     look reach=ADDRESS,PORT…          whether these answer a connection from here
#     begin                             a signed order on standard input
#     progress RUN [AFTER]              the events of a run
#     halt                              take back whatever is on, now
#     audit                             what of a drill is still there
#   units of our own: run, keep, restore; at boot: boot
#
# Exit: 0; 10 refused, the reason is on standard output; 1 anything else.
set -u
PATH=/usr/sbin:/usr/bin:/sbin:/bin
LC_ALL=C
export PATH LC_ALL
umask 077
cd /
settings=/etc/escapement/drill
kept=/var/lib/escapement/drill
work=/run/escapement-drill
table=escapement_drill
prefix=escapement-drill
drop_in=escapement-drill.conf
fill_file=.escapement-drill-fill
# After the restore a service may take so long to be up again before the audit calls it missing.
settle_ms=20000

refuse() {
  printf 'refused %s\n' "$1"
  exit 10
}

# Sets `now`: milliseconds since boot, which no step of the wall clock moves.
boot_ms() {
  read -r up _ </proc/uptime
  hundredths=${up#*.}
  now=$((${up%.*} * 1000 + ${hundredths#0} * 10))
}

# Sets `wall`: milliseconds since 1970 as the services of this host see it.
wall_ms() {
  wall=$(LD_PRELOAD='' date +%s%3N)
  lab_offset
  wall=$((wall + offset_now * 1000))
}

# Sets `boot_id`.
read_boot_id() {
  read -r boot_id </proc/sys/kernel/random/boot_id
}

container() {
  systemd-detect-virt --container 2>/dev/null | grep -v '^none$'
}

# Makes any text one that JSON, and a line, can hold.
clean() {
  case $1 in
    *[!A-Za-z0-9\ ._:@/=,+\(\)-]*) printf %s "$1" | tr -d '\\"' | tr -c '[:print:]' ' ' ;;
    *) printf %s "$1" ;;
  esac
}

is_number() {
  case $1 in '' | *[!0-9]*) return 1 ;; esac
}

# Appends one event to the record of the run: event NAME [KEY VALUE]…
event() {
  event_name=$1
  shift
  detail=''
  while [ $# -ge 2 ]; do
    case $2 in
      true | false | 0 | [1-9] | -[1-9]) json=$2 ;;
      -*[!0-9]* | [!1-9-]* | [1-9]*[!0-9]* | '' | -0* | -) json="\"$(clean "$2")\"" ;;
      *) json=$2 ;;
    esac
    detail="$detail${detail:+,}\"$1\":$json"
    shift 2
  done
  boot_ms
  wall_ms
  (
    flock 8
    # Whoever could not wait any longer for the lock of the run may come second: these are said once.
    case $event_name in restored | audit | ended) ! has_event "$event_name" || exit 0 ;; esac
    seq=$(($(wc -l <"$run/events" 2>/dev/null || echo 0) + 1))
    line="{\"seq\":$seq,\"event\":\"$event_name\",\"wallMs\":$wall,\"bootMs\":$now,\"detail\":{$detail}}"
    printf '%s\n' "$line" >>"$run/events"
    # A copy that a reboot leaves. The disk may be full on purpose.
    [ "$run" = "$kept/runs/$id" ] || printf '%s\n' "$line" 2>/dev/null >>"$kept/runs/$id/events"
  ) 8>>"$run/events.lock"
  case $event_name in proof) ;; *) sync -d "$kept/runs/$id/events" 2>/dev/null ;; esac
}

has_event() {
  grep -q "\"event\":\"$1\"" "$run/events" 2>/dev/null
}

# Only one actor at a time changes the host. What an actor starts inherits the
# lock: a program that outlives its killed shell still keeps the others out.
# take_lock SECONDS [WHO]: a run that holds it longer hangs, and is killed by whoever wants to restore.
take_lock() {
  exec 9>>"$run/lock"
  ! flock -w "$1" 9 || return 0
  case ${2:-run} in
    run | main-gone) ;;
    *) systemctl kill --signal=KILL "$prefix-$id.service" 2>/dev/null ;;
  esac
  flock -w 0.5 9 || :
}

release_lock() {
  exec 9>&-
}

# Sets `run`, `id` and the order's fields, o_…, of a run of this boot.
load_run() {
  id=$1
  case $id in '' | *[!0-9a-f-]*) return 1 ;; esac
  run=$work/$id
  [ -f "$run/order" ] || run=$kept/runs/$id
  [ -f "$run/order" ] || return 1
  read_order "$run/order"
  # shellcheck disable=SC1091
  [ ! -f "$run/saved" ] || . "$run/saved"
  case $o_fault in
    kill | stop | pause | memory-limit) group=unit ;;
    cut) group=network ;;
    fill-disk) group=disk ;;
    *) group=$o_fault ;;
  esac
}

# Remembers a value for the restore: save NAME VALUE. Single quotes are in no value.
save() {
  value=$(printf %s "$2" | tr -d "'\\n")
  printf "s_%s='%s'\n" "$1" "$value" >>"$run/saved"
}

# Sets u_…: what systemd knows about a unit.
read_unit() {
  u_ActiveState=unknown u_SubState='' u_MainPID=0 u_NRestarts=0 u_LoadState='' u_UnitFileState=''
  u_MemoryMax='' u_WatchdogUSec='' u_RequiredBy='' u_BoundBy='' u_ConsistsOf=''
  while IFS='=' read -r key value; do
    case $key in
      ActiveState | SubState | MainPID | NRestarts | LoadState | UnitFileState | MemoryMax | WatchdogUSec | RequiredBy | BoundBy | ConsistsOf)
        eval "u_$key=\$value"
        ;;
    esac
  done <<END
$(systemctl show -p ActiveState,SubState,MainPID,NRestarts,LoadState,UnitFileState,MemoryMax,WatchdogUSec,RequiredBy,BoundBy,ConsistsOf -- "$1" 2>/dev/null)
END
}

# Sets `p_state` and `p_start` (clock ticks since boot) of a process; empty when it is gone.
read_process() {
  p_state='' p_start=''
  [ "$1" -gt 0 ] 2>/dev/null || return 0
  IFS= read -r line 2>/dev/null <"/proc/$1/stat" || return 0
  # The name of the process may have blanks and brackets in it.
  set -- ${line##*) }
  p_state=$1
  p_start=${20}
}
