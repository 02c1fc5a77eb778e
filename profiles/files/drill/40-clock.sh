
# --- clock: the wall clock, put back from the clock that nobody touches -------------
#
# Before: base = wall clock - time since boot. After: wall clock := time since
# boot + base. No network, no hardware clock, no daemon is needed for that.

time_daemons='chrony.service chronyd.service systemd-timesyncd.service ntp.service ntpsec.service ntpd.service openntpd.service'

has_capability() {
  set -- "$1" "$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)"
  [ $((0x$2 >> $1 & 1)) = 1 ]
}

# Prints how the clock of this host can be moved, or nothing.
clock_method() {
  if [ -n "$(allowance clock-file)" ]; then
    echo lab-clock-file
  elif has_capability 25 && [ -z "$(container)" ]; then
    echo kernel
  fi
}

# Sets `offset_now`: seconds that the lab's own file adds to the clock of every service; 0 elsewhere.
lab_offset() {
  offset_now=0
  [ -n "${clock_file=$(allowance clock-file)}" ] && [ -r "$clock_file" ] || return 0
  read -r offset_now <"$clock_file" || :
  offset_now=${offset_now#+}
  case ${offset_now#-} in '' | *[!0-9]*) offset_now=0 ;; esac
}

# Sets `base`: wall clock minus time since boot, microseconds, and `base_error`:
# what it may be too much by, milliseconds. Each reading is late, by at most as
# long as starting `date` took: a few milliseconds, or a hundred where a machine
# is emulated. What all of a few readings allow is what is known.
read_base() {
  base='' least=''
  for _ in 1 2 3 4 5; do
    next_tick
    ticked=$now
    sample=$(LD_PRELOAD='' date +%s%6N)
    boot_ms
    [ -n "$base" ] && [ $((sample - ticked * 1000)) -ge "$base" ] || base=$((sample - ticked * 1000))
    # Time since boot comes in hundredths: it may have been a hundredth later.
    [ -n "$least" ] && [ $((sample - now * 1000 - 10000)) -le "$least" ] || least=$((sample - now * 1000 - 10000))
  done
  base_error=$(((base - least) / 1000))
  lab_offset
  base=$((base + offset_now * 1000000))
}

# Waits for the next hundredth of a second; sets `now` as boot_ms does.
next_tick() {
  boot_ms
  before=$now
  while [ "$now" = "$before" ]; do boot_ms; done
}

clock_save() {
  save method "$(clock_method)"
  read_base
  save base "$base"
  save baseError "$base_error"
  save labOffset "$offset_now"
  running=''
  for daemon in $time_daemons; do
    ! systemctl is-active --quiet "$daemon" || running="$running$daemon "
  done
  # One daemon may have two names.
  case $running in *chrony.service*chronyd.service*) running=$(printf %s "$running" | sed 's/chronyd.service //') ;; esac
  save daemons "$running"
  synced=false
  for daemon in $running; do
    [ "$(synchronised "$daemon" true)" != true ] || synced=true
  done
  save synced $synced
}

write_lab_clock() {
  lab_offset
  case $1 in -*) text=$1 ;; *) text=+$1 ;; esac
  # Renamed into place: nobody reads half a number.
  (umask 022 && printf '%s\n' "$text" >"$clock_file.drill") && mv "$clock_file.drill" "$clock_file"
}

clock_inject() {
  # A daemon that runs would take the step for an error and mend it. It alone is stopped: what
  # requires it (a scheduler waits for a right clock at its start) is what the drill is about.
  # shellcheck disable=SC2086
  [ -z "$s_daemons" ] || systemctl stop --job-mode=ignore-dependencies -- $s_daemons
  if [ "$s_method" = lab-clock-file ]; then
    write_lab_clock $((s_labOffset + o_offsetSeconds))
  else
    # Relative to now, fractions kept, and the hardware clock left alone.
    date -s "$o_offsetSeconds seconds" >/dev/null
  fi
}

# Sets `moved`: milliseconds between the clock and where the saved base says it belongs, and
# `moved_error`: what both readings together may be wrong by.
read_moved() {
  read_base
  moved=$(((base - s_base) / 1000))
  moved_error=$((base_error + ${s_baseError:-0}))
}

clock_proof() {
  effect=false
  read_moved
  error=$((moved - o_offsetSeconds * 1000))
  [ "${error#-}" -gt 1000 ] || effect=true
  facts="method $s_method offsetMs $moved"
}

clock_restore() {
  if [ "$s_method" = lab-clock-file ]; then
    write_lab_clock "$s_labOffset"
  else
    read_moved
    # Nothing to put back when the step was never made.
    if [ "${moved#-}" -gt $((20 + moved_error)) ]; then
      next_tick
      right=$((now * 1000 + s_base))
      date -s "@$((right / 1000000)).$(printf %06d $((right % 1000000)))" >/dev/null
    fi
  fi
  # shellcheck disable=SC2086
  [ -z "$s_daemons" ] || systemctl start --no-block -- $s_daemons
}

# It was started anew, with its own settings. If it followed its sources before, it shall again: measure at once, and wait.
clock_settle() {
  case $s_synced,$s_daemons in true,*chrony*) ;; *) return ;; esac
  boot_ms
  end=$((now + 15000))
  asked=no
  while [ "$now" -lt $end ] && [ ! -e "$run/ended" ]; do
    if timeout 3 chronyc -n waitsync 1 0.05 0 0.1 >/dev/null 2>&1; then return; fi
    if [ $asked = no ] && timeout 3 chronyc -n online >/dev/null 2>&1; then
      timeout 3 chronyc -n burst 4/4 >/dev/null 2>&1 && asked=yes
    fi
    sleep 0.5
    boot_ms
  done
}

clock_residue() {
  read_moved
  # 50 ms, what reading the clock may be wrong by, and what a daemon may have mended meanwhile (500 ppm).
  boot_ms
  bound=$((50 + moved_error + (now - ${s_savedBootMs:-$now}) / 2000))
  [ "${moved#-}" -le "$bound" ] || echo "clock is $moved ms from where it was, bound $bound ms"
  for daemon in $s_daemons; do
    systemctl is-active --quiet "$daemon" || echo "time-daemon $daemon ran and does not run"
  done
}

clock_is_back() {
  for daemon in $s_daemons; do
    systemctl is-active --quiet "$daemon" || return 1
  done
}
