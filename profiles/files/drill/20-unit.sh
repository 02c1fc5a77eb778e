
# --- kill, stop, pause, memory-limit: one unit, by its main process -------------

unit_save() {
  read_unit "$o_unit"
  [ "$u_LoadState" = loaded ] || refuse "there is no unit $o_unit here"
  [ "$u_ActiveState" = active ] || refuse "$o_unit is $u_ActiveState: there is nothing to break"
  read_process "$u_MainPID"
  case $o_fault in
    kill | pause) [ -n "$p_start" ] || refuse "$o_unit has no main process" ;;
  esac
  save pid "$u_MainPID"
  save start "$p_start"
  save restarts "$u_NRestarts"
  save fileState "$u_UnitFileState"
  save watchdog "$u_WatchdogUSec"
  save memory "$u_MemoryMax"
  others=''
  for other in $u_RequiredBy $u_BoundBy $u_ConsistsOf; do
    case $other in *.service | *.socket | *.timer) systemctl is-active --quiet -- "$other" && others="$others$other " ;; esac
  done
  save others "$others"
  if [ -d "/run/systemd/system/$o_unit.d" ]; then save hadFolder yes; else save hadFolder no; fi
  if ls "/run/systemd/system.control/$o_unit.d/"*MemoryMax.conf >/dev/null 2>&1; then
    save hadMemoryMax yes
  else
    save hadMemoryMax no
  fi
}

# The process that was looked at, not one that has its number now.
same_process() {
  read_process "$s_pid"
  [ -n "$p_start" ] && [ "$p_start" = "$s_start" ]
}

# A condition and no restart: whoever tries to start the unit, it does not run.
# A mask in /run would be outranked by a unit file in /etc.
hold_down() {
  folder=/run/systemd/system/$o_unit.d
  (
    umask 022
    mkdir -p "$folder"
    printf '[Unit]\nConditionPathExists=!%s\n[Service]\nRestart=no\n' "$run/down" >"$folder/$drop_in"
  )
  : >"$run/down"
  systemctl daemon-reload
}

# With the marker gone the condition holds, so the unit may start before systemd has read anything anew.
unit_restore() {
  case $o_fault in
    kill | stop) rm -f "$run/down" ;;
    pause) ! same_process || kill -CONT "$s_pid" ;;
    memory-limit) systemctl set-property --runtime -- "$o_unit" "MemoryMax=$s_memory" ;;
  esac
  read_unit "$o_unit"
  # It may have failed for good: too many starts, or a memory limit that killed it.
  case $u_ActiveState in
    active | reloading) ;;
    *)
      systemctl reset-failed -- "$o_unit" 2>/dev/null
      systemctl start --no-block -- "$o_unit"
      ;;
  esac
  for other in $s_others; do
    systemctl is-active --quiet -- "$other" || systemctl start --no-block -- "$other"
  done
}

# What is slow and changes nothing for the unit: our own files out of systemd's folders.
unit_tidy() {
  case $o_fault in
    kill | stop)
      [ "$o_keepDown" = true ] || return 0
      rm -f "/run/systemd/system/$o_unit.d/$drop_in"
      [ "$s_hadFolder" = yes ] || rmdir "/run/systemd/system/$o_unit.d" 2>/dev/null
      ;;
    memory-limit)
      [ "$s_hadMemoryMax" = no ] || return 0
      rm -f "/run/systemd/system.control/$o_unit.d/50-MemoryMax.conf"
      rmdir "/run/systemd/system.control/$o_unit.d" 2>/dev/null
      ;;
    *) return 0 ;;
  esac
  systemctl daemon-reload
}

unit_inject() {
  case $o_fault in
    kill | stop) [ "$o_keepDown" = false ] || hold_down ;;
  esac
  case $o_fault in
    kill)
      same_process || return 1
      kill -KILL "$s_pid"
      ;;
    pause)
      same_process || return 1
      kill -STOP "$s_pid"
      ;;
    stop) systemctl stop --no-block -- "$o_unit" ;;
    memory-limit) limit_memory ;;
  esac
}

# With control groups of the first version the kernel takes no limit below what is in use now, where
# the second one ends a process for it. It is ended here, then, and starts again under the limit.
limit_memory() {
  systemctl set-property --runtime -- "$o_unit" "MemoryMax=$o_limitBytes"
  kernel_limit
  if [ "$memory_limit" != unknown ] && [ "$memory_limit" -gt "$((o_limitBytes + 4096))" ] && same_process; then
    kill -KILL "$s_pid"
  fi
}

# Sets `effect` and `facts`.
unit_proof() {
  effect=false
  read_unit "$o_unit"
  case $o_fault in
    kill)
      # Dead is dead, whether or not systemd has come round to bury it.
      { same_process && [ "$p_state" != Z ] && [ "$p_state" != X ]; } || effect=true
      facts="pidBefore $s_pid pidNow $u_MainPID active $u_ActiveState restarts $u_NRestarts"
      ;;
    stop)
      case $u_ActiveState in inactive | failed) effect=true ;; esac
      facts="pidBefore $s_pid pidNow $u_MainPID active $u_ActiveState"
      ;;
    pause)
      same_process && [ "$p_state" = T ] && effect=true
      facts="pid $s_pid processState ${p_state:-gone} active $u_ActiveState watchdog ${s_watchdog:-0}"
      ;;
    memory-limit)
      kernel_limit
      [ "$memory_limit" = unknown ] || [ "$memory_limit" -gt "$((o_limitBytes + 4096))" ] || effect=true
      facts="limitBytes $memory_limit pidBefore $s_pid pidNow $u_MainPID active $u_ActiveState restarts $u_NRestarts"
      ;;
  esac
}

# Sets `memory_limit`: what the kernel, not systemd, holds the unit to.
kernel_limit() {
  memory_limit=unknown
  control_group=$(systemctl show -p ControlGroup --value -- "$o_unit" 2>/dev/null)
  for file in "/sys/fs/cgroup$control_group/memory.max" "/sys/fs/cgroup/memory$control_group/memory.limit_in_bytes"; do
    [ -n "$control_group" ] && [ -r "$file" ] || continue
    read -r memory_limit <"$file"
    case $memory_limit in *[!0-9]*) memory_limit=unknown ;; esac
    return
  done
}

# Prints what is not as it was.
unit_residue() {
  read_unit "$o_unit"
  [ "$u_ActiveState" = active ] || echo "unit-state $o_unit was active and is $u_ActiveState"
  [ "$u_UnitFileState" = "$s_fileState" ] || echo "unit-enablement $o_unit was $s_fileState and is $u_UnitFileState"
  [ "$u_MemoryMax" = "$s_memory" ] || echo "memory-limit $o_unit had MemoryMax=$s_memory and has $u_MemoryMax"
  for pid in $s_pid $u_MainPID; do
    read_process "$pid"
    [ "$p_state" != T ] || echo "stopped-process $pid of $o_unit is stopped"
  done
  for other in $s_others; do
    systemctl is-active --quiet -- "$other" || echo "unit-state $other was active and is not"
  done
}

unit_is_back() {
  for one in $o_unit $s_others; do
    systemctl is-active --quiet -- "$one" || return 1
  done
}
