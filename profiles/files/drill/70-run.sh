
# --- the run itself ----------------------------------------------------------------
#
#   armed ─▶ injected ─▶ holding ─▶ restored ─▶ audit ─▶ ended
#     every actor (the run, halt, either dead-man, systemd after the run is
#     gone, the next boot) may take every step behind "injected"; the lock and
#     the record of events see to it that each is taken once.

run_drill() {
  take_lock 15
  if [ ! -e "$run/restored" ] && ! has_event restored; then
    # From here on there may be something to take back.
    : >"$run/injecting"
    if [ "$o_fault" = power ]; then
      : >"$kept/runs/$id/injecting"
      event injected fault power
      sync
    fi
    if "${group}_inject" 2>"$run/said"; then
      [ "$o_fault" = power ] || event injected fault "$o_fault"
    else
      event abort reason "the fault could not be injected: $(head -c 300 "$run/said")"
      : >"$run/stop"
    fi
    boot_ms
    hold_end=$((now + o_holdSeconds * 1000))
  fi
  release_lock
  hold
  restore_run run
  finish_run run
}

# Watches the fault until its time is over, someone asks for the end, or it is no longer what it was.
hold() {
  holding=no
  every=$((o_holdSeconds * 1000 / 60))
  [ $every -ge 1000 ] || every=1000
  next=0
  facts=''
  while [ ! -e "$run/restored" ] && [ ! -e "$run/stop" ]; do
    boot_ms
    [ "$now" -lt "${hold_end:-0}" ] || return 0
    if [ "$now" -ge $next ]; then
      next=$((now + every))
      # Until it is in effect, often; but not for ever.
      [ $holding = yes ] || [ "$now" -gt $((hold_end - o_holdSeconds * 1000 + 5000)) ] || next=$((now + 200))
      lost=''
      "${group}_proof"
      [ ! -e "$run/restored" ] || return 0
      # shellcheck disable=SC2086
      event proof inEffect "$effect" $facts
      if [ $holding = no ] && [ "$effect" = true ]; then
        holding=yes
        # shellcheck disable=SC2086
        event holding $facts
      fi
      [ -z "$lost" ] || {
        event abort reason "$lost"
        return 0
      }
      trouble=$(own_trouble | head -n 1)
      [ -z "$trouble" ] || {
        event abort reason "$trouble"
        return 0
      }
    fi
    sleep 0.1
  done
}

# Takes the fault back, once. $1: who.
restore_run() {
  has_event restored || take_lock 0.5 "$1"
  if ! has_event restored; then
    if [ -e "$run/injecting" ]; then
      for _ in 1 2 3 4 5; do
        "${group}_restore" 2>>"$run/said"
        lifted
        [ $lifted = false ] || break
        sleep 0.2
      done
      # shellcheck disable=SC2086
      event restored by "$1" injected true lifted $lifted $facts
    else
      event restored by "$1" injected false lifted true
    fi
  fi
  : >"$run/restored"
  release_lock
}

# Measures at once what can be measured at once; sets `lifted` and `facts`.
lifted() {
  lifted=true facts=''
  case $o_fault in
    cut)
      ! has_table || lifted=false
      facts="receivedDropped ${received:-unknown} sentDropped ${sent:-unknown}"
      ;;
    pause)
      same_process && [ "$p_state" = T ] && lifted=false
      facts="pid $s_pid processState ${p_state:-gone}"
      ;;
    kill | stop | memory-limit)
      [ ! -e "$run/down" ] || lifted=false
      read_unit "$o_unit"
      [ "$u_MemoryMax" = "$s_memory" ] || lifted=false
      facts="pidBefore $s_pid pidNow $u_MainPID active $u_ActiveState"
      ;;
    clock)
      read_moved
      [ "${moved#-}" -le $((50 + moved_error)) ] || lifted=false
      facts="method $s_method offsetMs $moved"
      ;;
    fill-disk)
      [ ! -e "$o_path/$fill_file" ] || lifted=false
      free_bytes
      facts="freeBytes $free"
      ;;
  esac
}

# Waits until what was running runs, looks for what is left, and ends the run. Once. $1: who.
finish_run() {
  if ! has_event ended; then
    settle
    take_lock 20
    if ! has_event ended; then
      [ ! -e "$run/injecting" ] || [ $group != unit ] || unit_tidy 2>>"$run/said"
      [ ! -e "$run/injecting" ] || try_again 2>>"$run/said"
      residue=$(residue_of_run)
      count=$(printf %s "$residue" | grep -c .)
      # Whoever did this was killed before the last line: one audit is enough.
      has_event audit || event audit residue "$count" left "$(printf %s "$residue" | tr '\n' ';' | head -c 600)"
      event ended residue "$count"
    fi
    release_lock
  fi
  : >"$run/ended"
  # Between these two lines a kill leaves dead-men that find nothing to do, and then do the same.
  if [ -e "$work/current" ] && [ "$(cat "$work/current")" = "$id" ]; then rm -f "$work/current"; fi
  # A run that was found stopped, or hangs, ends here; what it would do next is done.
  case ${1:-} in run | main-gone) ;; *) systemctl stop --no-block "$prefix-$id.service" 2>/dev/null ;; esac
  # Last: the keeper may be who says this.
  disarm
}

# What a timer of ours started in the middle of the fault, and failed for it, has its turn now.
try_again() {
  boot_ms
  end=$((now + 10000))
  for failed in $(systemctl list-units --failed --plain --no-legend --no-pager 'escapement-*.service' | awk '{ print $1 }'); do
    case " ${s_failed:-} " in *" $failed "*) continue ;; esac
    [ "$(systemctl show -p Type --value -- "$failed")" = oneshot ] || continue
    until timeout 5 systemctl start -- "$failed"; do
      boot_ms
      [ "$now" -lt $end ] || break
      sleep 0.5
    done
  done
}

settle() {
  [ -e "$run/injecting" ] || return 0
  [ "$o_fault" != clock ] || clock_settle
  case $group in unit | clock) ;; *) return 0 ;; esac
  boot_ms
  end=$((now + settle_ms))
  while [ "$now" -lt $end ] && [ ! -e "$run/ended" ] && ! "${group}_is_back"; do
    sleep 0.1
    boot_ms
  done
}

# The second dead-man. It sleeps on the monotonic clock, and looks again when it wakes.
keep_watch() {
  while [ ! -e "$run/restored" ]; do
    boot_ms
    left=$((s_deadline - now))
    [ $left -gt 0 ] || break
    sleep "$((left / 1000)).$(printf %03d $((left % 1000)))"
  done
  restore_run keeper
  finish_run keeper
}

# After a start of the host: what a run of an earlier boot has left behind.
boot() {
  read_boot_id
  this_boot=$boot_id
  for folder in "$kept/runs"/*-*-*-*-*; do
    [ -f "$folder/saved" ] && ! grep -q '"event":"ended"' "$folder/events" 2>/dev/null || continue
    run=''
    s_boot=''
    load_run "${folder##*/}" || continue
    [ "$s_boot" != "$this_boot" ] || continue
    run=$folder
    settle_ms=60000
    # The same run may have been cut short before, in between, or after.
    case $group in
      network | disk | power) "${group}_restore" ;;
      # The lab's clock is a file, and outlives a reboot as no real one does.
      clock) [ "$s_method" != lab-clock-file ] || write_lab_clock "$s_labOffset" ;;
    esac
    boot_ms
    s_savedBootMs=$now
    has_event restored || event restored by boot injected true lifted true rebooted true
    [ $group != unit ] || settle
    residue=''
    case $group in clock) ;; *) residue=$(residue_of_run) ;; esac
    count=$(printf %s "$residue" | grep -c .)
    has_event audit || event audit residue "$count" left "$(printf %s "$residue" | tr '\n' ';' | head -c 600)"
    event ended residue "$count" rebooted true
  done
}
