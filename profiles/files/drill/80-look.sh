
# --- look, progress, halt, audit ------------------------------------------------------

# Prints `true`, or why this host cannot do a fault.
can_do() {
  if ! allowed fault "$1"; then
    echo "not-allowed: the list of this host does not allow the fault $1"
    return
  fi
  case $1 in
    cut)
      command -v nft >/dev/null || {
        echo 'needs-setup: nft is not installed'
        return
      }
      has_capability 12 || {
        echo 'needs-vm: this host may not change its network'
        return
      }
      ;;
    clock)
      [ -n "$(clock_method)" ] || {
        echo "needs-vm: this host may not set its clock$(container | sed 's/^/ (/; s/$/)/')"
        return
      }
      ;;
    power)
      has_capability 22 || {
        echo 'needs-metal: this host may not reset itself'
        return
      }
      ;;
    memory-limit)
      grep -qw memory /sys/fs/cgroup/cgroup.controllers 2>/dev/null || [ -w /sys/fs/cgroup/memory ] || {
        echo 'needs-vm: control groups do not limit memory here'
        return
      }
      ;;
  esac
  echo true
}

# Prints, of each peer, whether it answers a connection, be it by refusing it. A lost packet is sent once more within that time.
reach() {
  for word in "$@"; do
    peer=${word#reach=}
    answer=unknown
    if [ -n "${peer%,*}" ] && is_number "${peer##*,}"; then
      # shellcheck disable=SC2016
      said=$(timeout 3 bash -c 'echo tried; exec 3<>"/dev/tcp/$0/$1"' "${peer%,*}" "${peer##*,}" 2>&1)
      case $?,$said in
        0,tried* | *refused*) answer=answers ;;
        124,tried* | *'No route to host'*) answer=silent ;;
      esac
    fi
    echo "reach $peer $answer"
  done
}

look() {
  case ${1:-} in
    reach=*)
      reach "$@"
      return
      ;;
  esac
  boot_ms
  wall_ms
  echo "now $wall $now"
  [ "${1:-}" != time ] || return 0
  read_boot_id
  echo "bootId $boot_id"
  ip -o addr show 2>/dev/null | awk '$2 != "lo" { sub(/\/.*/, "", $4); print "address " $4 }'
  for word in "$@"; do
    case $word in
      unit=*)
        read_unit "${word#unit=}"
        read_process "$u_MainPID"
        echo "unit ${word#unit=} $u_ActiveState $u_MainPID ${p_state:--} $u_NRestarts"
        ;;
      path=*)
        free=$(df -B1 --output=avail -- "${word#path=}" 2>/dev/null | tail -n 1 | tr -d ' ')
        ! is_number "$free" || echo "free $free ${word#path=}"
        ;;
    esac
  done
  for daemon in $time_daemons; do
    [ "$(systemctl show -p LoadState --value "$daemon")" = loaded ] || continue
    running=false
    ! systemctl is-active --quiet "$daemon" || running=true
    echo "timeDaemon $daemon $running $(synchronised "$daemon" $running)"
    [ $running = false ] || break
  done
  for fault in kill stop pause cut clock power fill-disk memory-limit; do
    echo "can $fault $(can_do $fault)"
  done
  { short_of_memory && overloaded; } | sed 's/^/trouble /'
  echo "clockMethod $(clock_method | grep . || echo none)"
  [ ! -e "$work/current" ] || echo "running $(cat "$work/current")"
}

synchronised() {
  [ "$2" = true ] || {
    echo unknown
    return
  }
  case $1 in
    chrony*)
      said=$(timeout 3 chronyc -n tracking 2>/dev/null) || {
        echo unknown
        return
      }
      case $said in *'Leap status     : Not synchronised'*) echo false ;; *) echo true ;; esac
      ;;
    systemd-timesyncd*) [ -e /run/systemd/timesync/synchronized ] && echo true || echo false ;;
    *) echo unknown ;;
  esac
}

progress() {
  id=$1
  after=${2:-0}
  is_number "$after" || refuse "AFTER is not a number"
  if ! load_run "$id"; then
    echo 'state none'
    return
  fi
  state=lost
  if has_event ended; then
    state=ended
  elif [ "$run" != "$work/$id" ]; then
    # A reboot took the run away; what cleans up after it has its turn while the host starts.
    ! boot_is_at_it || state=restoring
  else
    if has_event restored; then
      state=restoring
    else
      for one in "$prefix-$id.service" "$prefix-$id-timer.timer" "$prefix-$id-timer.service" "$prefix-$id-keeper.service"; do
        case $(systemctl show -p ActiveState --value "$one") in inactive | failed) ;; *) state=running ;; esac
      done
    fi
  fi
  echo "state $state"
  tail -n "+$((after + 1))" "$run/events" 2>/dev/null
}

# The clean-up of this boot is still to come, or on.
boot_is_at_it() {
  case $(systemctl show -p ActiveState --value "$prefix-cleanup.service") in activating | active | deactivating) return 0 ;; esac
  case $(systemctl is-system-running 2>/dev/null) in initializing | starting) return 0 ;; esac
  systemctl list-jobs --plain --no-legend --no-pager 2>/dev/null | grep -q "$prefix-cleanup\.service"
}

halt() {
  boot_ms
  began=$now
  # An order that is being read, or still on its way here, is over, too.
  mkdir -p "$work"
  printf '%s\n' "$now" >"$work/halted.new" && mv "$work/halted.new" "$work/halted"
  exec 7>>"$work/begin.lock"
  flock -w 5 7
  if [ ! -e "$work/current" ]; then
    sweep
    echo 'halted false 0'
    return
  fi
  read -r current <"$work/current" || :
  if [ -z "$current" ] || ! load_run "$current"; then
    rm -f "$work/current"
    sweep
    echo 'halted false 0'
    return
  fi
  has_event restored || event abort reason halt
  restore_run halt
  boot_ms
  echo "halted true $((now - began))"
  # The run ends itself; where it is gone, nobody else will before the deadline.
  systemctl is-active --quiet "$prefix-$id.service" || finish_run halt
}

# With no run on, whatever of ours there is is left over.
sweep() {
  ! has_table || drop_tables
  found=no
  for file in /run/systemd/system/*.d/$drop_in; do
    [ -e "$file" ] || continue
    rm -f "$file"
    rmdir "${file%/*}" 2>/dev/null
    found=yes
  done
  [ $found = no ] || systemctl daemon-reload
  sed -n 's/^path //p' "$settings/allowed" 2>/dev/null | while IFS= read -r path; do
    case $path in /*) rm -f "$path/$fill_file" ;; esac
  done
}

# Prints what the run at hand has left, one a line: WHAT, a blank, details.
residue_of_run() {
  if [ -e "$run/injecting" ]; then
    if command -v "${group}_residue" >/dev/null; then
      "${group}_residue"
    else
      echo "audit of $group cannot be done"
    fi
  fi
  network_residue_of_others
  for file in /run/systemd/system/*.d/$drop_in; do
    [ ! -e "$file" ] || echo "drop-in $file is still there"
  done
  for failed in $(systemctl list-units --failed --plain --no-legend --no-pager | awk '{ print $1 }'); do
    case " ${s_failed:-} " in *" $failed "*) ;; *) echo "failed-unit $failed has failed since the drill began" ;; esac
  done
}

network_residue_of_others() {
  case $group in network | power) ;; *) network_residue ;; esac
}

audit() {
  # A run that has just ended may still be putting its own units away.
  boot_ms
  end=$((now + 5000))
  while [ "$now" -lt $end ] && [ ! -e "$work/current" ] && own_units | grep -q .; do
    sleep 0.1
    boot_ms
  done
  if [ -e "$work/current" ]; then echo "residue lock run $(cat "$work/current") is on"; fi
  own_units | sed 's/^/residue unit /'
  if ! command -v nft >/dev/null; then
    echo 'unseen nft-table: nft is not installed'
  elif has_capability 12 && ! nft list tables >/dev/null 2>&1; then
    # Whoever has no right to ask could not have made one, either.
    echo 'unseen nft-table: nft does not answer'
  fi
  if ! command -v systemctl >/dev/null; then
    echo 'unseen units: there is no systemctl'
  elif ! systemctl show -p Version --value 2>/dev/null | grep -q .; then
    echo 'unseen units: systemd does not answer'
  fi
  last=$(find "$work" -mindepth 1 -maxdepth 1 -type d -name '*-*-*-*-*' -printf '%T@ %f\n' 2>/dev/null | sort -n | tail -n 1 | cut -d ' ' -f 2)
  if [ -n "$last" ] && load_run "$last"; then
    residue_of_run | sed 's/^/residue /'
    [ ! -e "$run/injecting" ] || has_event restored || [ -e "$work/current" ] || echo "residue run $last was never taken back"
  else
    group=none s_failed=$(systemctl list-units --failed --plain --no-legend --no-pager | awk '{ print $1 }' | tr '\n' ' ') run=/nonexistent
    residue_of_run | sed 's/^/residue /'
  fi
  sed -n 's/^path //p' "$settings/allowed" 2>/dev/null | while IFS= read -r path; do
    [ ! -e "$path/$fill_file" ] || echo "residue fill-file $path/$fill_file is there"
  done
  sed -n 's/^unit //p' "$settings/allowed" 2>/dev/null | while IFS= read -r one; do
    read_unit "$one"
    read_process "$u_MainPID"
    [ "$p_state" != T ] || echo "residue stopped-process $u_MainPID of $one is stopped"
  done
  [ -r "$settings/allowed" ] || echo "unseen paths: $settings/allowed cannot be read"
  echo done
}

own_units() {
  systemctl list-units --all --plain --no-legend --no-pager "$prefix-*" 2>/dev/null |
    awk '$1 !~ /^escapement-drill-cleanup\.service$/ && $3 != "inactive" { print $1, $3 }'
}
