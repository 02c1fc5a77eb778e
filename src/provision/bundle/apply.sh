# The writing half of the runner. A transaction goes through these states, each
# a file in its folder, made durable before what it announces:
#
#   open -> prepared -> (armed) -> renaming -> applied -> commit
#     |         |                      |          |
#     +---------+----------------------+----------+--> reverted   (undo.sh)
#                                             commit --> rolled-back
#
# Whoever finds a transaction without "commit" whose runner is gone runs undo.sh.
esc_out=
esc_point=0

esc_say() { esc_out="$esc_out$1$NL"; }

# One line, without tabs, of what a program said.
esc_words() { printf '%s' "$1" | tail -n 4 | tr '\t\n' '  ' | head -c 600; }

# Arguments: result, reason. Answers and ends.
esc_result() {
  esc_say "result$TAB$1$TAB$(esc_words "$2")"
  printf '%s' "$esc_out" | esc_emit 2>/dev/null
  exit 0
}

# A point at which tests kill the runner. In a transaction it is written to the journal.
p() {
  esc_point=$((esc_point + 1))
  if [ -d "$T" ]; then
    printf '%s %s\n' "$esc_point" "$1" >>"$T/journal"
    sync "$T/journal"
  fi
  if [ "$ESC_STOP_AT" = "$esc_point" ]; then kill -9 $$; fi
}

# Arguments: step, reason. Puts everything back and says why.
esc_fail() {
  esc_say "failed$TAB$1$TAB$(esc_words "$2")"
  if [ ! -f "$T/prepared" ]; then
    rm -rf "$T"
    esc_result refused "$1: $2"
  fi
  sh "$T/undo.sh" self >/dev/null 2>&1
  if [ -e "$T/reverted" ]; then esc_result reverted "$1: $2"; fi
  esc_result broken "$1: $2; and putting it back did not finish, see $T/undo.log"
}

# Arguments: step, path. Fails with what the system says to a write beside that path.
esc_cannot_write() {
  esc_text=$({ head -c 65536 /dev/zero >"$T/.try"; } 2>&1)
  rm -f "$T/.try"
  esc_fail "$1" "cannot write $2${esc_text:+: $esc_text}"
}

# Arguments: name, command. Any exit but 0 fails the transaction.
esc_run() {
  esc_name=$1
  shift
  esc_text=$(timeout -k 5 "${ESC_LIMIT:-120}" "$@" 2>&1 9>&- </dev/null)
  esc_code=$?
  [ "$esc_code" = 0 ] || esc_fail "$esc_name" "${esc_text:-exit $esc_code}"
}

# Takes the lock, and ends what an earlier runner left behind.
esc_begin() {
  trap : HUP INT TERM PIPE
  if ! esc_text=$(mkdir -p -m 700 "$ESC_STATE" 2>&1 && mkdir -p "$ESC_STATE/txn" "$ESC_STATE/pending-restarts" 2>&1 &&
    touch "$ESC_STATE/lock" 2>&1); then esc_result refused "$esc_text"; fi
  exec 9>>"$ESC_STATE/lock"
  flock -w 10 9 || esc_result busy "another change is being made on this host"
  for esc_dir in "$ESC_STATE"/txn/*; do
    [ -d "$esc_dir" ] || continue
    esc_txn_state "$esc_dir"
    esc_id=${esc_dir##*/}
    case $esc_txn in
      applied)
        if systemctl is-active --quiet "escapement-revert-$esc_id-b.timer" 9>&-; then
          esc_result busy "transaction $esc_id waits for its confirmation, or reverts by itself within a minute"
        fi ;;
      begun) rm -rf "$esc_dir"; continue ;;
      open) ;;
      *) continue ;;
    esac
    sh "$esc_dir/undo.sh" self >/dev/null 2>&1
    [ -e "$esc_dir/reverted" ] || esc_result broken "transaction $esc_id was interrupted, and putting it back did not finish"
    esc_say "settled$TAB$esc_id"
  done
}

esc_open() {
  if [ ! -d "$ESC_ROOT/run/systemd/system" ] || ! command -v systemd-run >/dev/null; then
    esc_result refused "this host has no systemd timers, so a change that cuts it off could not revert by itself"
  fi
  T=$ESC_STATE/txn/$ID
  esc_text=$(mkdir -m 700 "$T" 2>&1 && mkdir "$T/orig" "$T/new" "$T/check" "$T/restarted" "$T/pending" 2>&1) ||
    esc_result refused "$esc_text"
  p open
  esc_expected >"$T/expected"
  esc_read </dev/null 2>/dev/null | esc_clean | esc_binding >"$T/seen" || esc_cannot_write observe "$T/seen"
  if ! cmp -s "$T/expected" "$T/seen"; then
    esc_text=$(comm -3 "$T/expected" "$T/seen" | head -n 50 | sed "s/^$TAB*/moved$TAB/")
    esc_say "$esc_text"
    rm -rf "$T"
    esc_result moved "the host is not as it was when it was planned"
  fi
  cp -a "$ESC_STATE/pending-restarts/." "$T/pending/" || esc_cannot_write prepare "$T"
  printf '%s %s\n' $$ "$(cut -d ' ' -f 22 /proc/$$/stat)" >"$T/runner"
  cat /proc/sys/kernel/random/boot_id >"$T/boot-id"
}

# Arguments: number, sum; the content in base64 on standard input.
esc_payload() {
  esc_text=$(base64 -d 2>&1 >"$T/new/$1") || esc_fail prepare "$esc_text"
  printf '%s  %s\n' "$2" "$T/new/$1" | sha256sum -c --status || esc_fail prepare "file $1 arrived damaged"
}

# Arguments: number, path. Keeps what stands there.
esc_keep() {
  if [ -e "$2" ] || [ -L "$2" ]; then
    esc_text=$(cp -a -T -- "$2" "$T/orig/$1" 2>&1) || esc_fail prepare "$esc_text"
  else
    : >"$T/orig/$1.absent"
  fi
}

esc_packages_now() {
  dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' 2>/dev/null |
    grep -v -e ' not-installed$' -e ' config-files$' | cut -d ' ' -f 1 | sort
}

# Taken off before, with their configuration left behind.
esc_packages_kept() {
  dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' 2>/dev/null |
    grep -e ' config-files$' | cut -d ' ' -f 1 | sort
}

esc_prepared() {
  esc_undo_script >"$T/undo.sh" && esc_observe_script >"$T/observe.sh" || esc_cannot_write prepare "$T/undo.sh"
  sh -n "$T/undo.sh" || esc_fail prepare "undo.sh is damaged"
  esc_packages_now >"$T/packages.before"
  esc_packages_kept >"$T/packages.kept"
  esc_text=$(find "$T" -type f -exec sync -- {} + 2>&1 && sync "$T" "$T/orig" "$ESC_STATE/txn" 2>&1) || esc_fail prepare "$esc_text"
  : >"$T/prepared"
  sync "$T/prepared" "$T"
  p prepared
}

# Arguments: seconds, letter. The host reverts when they have passed, whatever became of the runner.
esc_arm() {
  esc_run "arm the timer" systemd-run --quiet --collect --unit="escapement-revert-$ID-$2" --on-active="$1" \
    --timer-property=AccuracySec=100ms /bin/sh "$T/undo.sh" timer
  p "armed $2"
}

# A boot in the middle reverts, too: timers of systemd-run do not outlive it.
esc_arm_boot() {
  esc_units=$ESC_ROOT/etc/systemd/system
  esc_text=$({
    mkdir -p "$esc_units/multi-user.target.wants" &&
      printf '%s\n' '[Unit]' "Description=Undo an interrupted change of this host ($ID)" 'After=basic.target' \
        '[Service]' 'Type=oneshot' "ExecStart=/bin/sh $T/undo.sh boot" >"$esc_units/escapement-revert-$ID.service" &&
      ln -s "../escapement-revert-$ID.service" "$esc_units/multi-user.target.wants/escapement-revert-$ID.service" &&
      sync "$esc_units/escapement-revert-$ID.service" "$esc_units" "$esc_units/multi-user.target.wants"
  } 2>&1) || esc_fail "arm the boot" "$esc_text"
  p "armed boot"
}

# Makes the folders above a path that are not there, and notes them first.
esc_parents() {
  esc_dir=${1%/*}
  esc_list=
  while [ -n "$esc_dir" ] && [ ! -d "$esc_dir" ]; do
    esc_list="$esc_dir$NL$esc_list"
    esc_dir=${esc_dir%/*}
  done
  [ -n "$esc_list" ] || return 0
  printf '%s' "$esc_list" >>"$T/made"
  sync "$T/made"
  esc_run "make ${1%/*}" mkdir -p -- "${1%/*}"
}

# Arguments: number, path, owner, group, mode.
esc_stage() {
  esc_parents "$2"
  esc_run "stage $2" install -o "$3" -g "$4" -m "$5" -T -- "$T/new/$1" "${2%/*}/.escapement-$ID-$1"
  esc_run "stage $2" sync -- "${2%/*}/.escapement-$ID-$1"
  p "staged $2"
}

# Arguments: number, path, target.
esc_stage_link() {
  esc_parents "$2"
  esc_run "stage $2" ln -s -T -- "$3" "${2%/*}/.escapement-$ID-$1"
  p "staged $2"
}

# Arguments: number, path. A copy under its own name, for programs that care for names.
esc_check_copy() {
  mkdir -p "$T/check/$1"
  cp -p -T -- "${2%/*}/.escapement-$ID-$1" "$T/check/$1/${2##*/}" || esc_fail "check $2" "cannot copy it"
}

# Arguments: unit, action, reason.
esc_pending() {
  printf '%s %s\n' "$2" "$3" >"$ESC_STATE/pending-restarts/.$1.new" &&
    sync "$ESC_STATE/pending-restarts/.$1.new" &&
    mv -f "$ESC_STATE/pending-restarts/.$1.new" "$ESC_STATE/pending-restarts/$1" || esc_fail prepare "cannot note the restart of $1"
}

esc_renaming() {
  sync "$ESC_STATE/pending-restarts"
  : >"$T/renaming"
  sync "$T/renaming" "$T"
  p renaming
}

# Arguments: number, path.
esc_rename() {
  esc_run "place $2" mv -f -T -- "${2%/*}/.escapement-$ID-$1" "$2"
  esc_run "place $2" sync -- "${2%/*}"
  p "placed $2"
}

esc_remove() {
  esc_run "remove $1" rm -f -- "$1"
  esc_run "remove $1" sync -- "${1%/*}"
  p "removed $1"
}

esc_applied() {
  : >"$T/applied"
  sync "$T/applied" "$T"
  p applied
  esc_result applied ""
}
