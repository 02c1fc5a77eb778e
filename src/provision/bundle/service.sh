# Packages and services, for the writing half of the runner.

# Services of new packages wait for their configuration.
esc_hold_services() {
  esc_policy=$ESC_ROOT/usr/sbin/policy-rc.d
  [ ! -e "$esc_policy" ] || return 0
  printf '#!/bin/sh\n# escapement %s\nexit 101\n' "$ID" >"$esc_policy" && chmod 755 "$esc_policy" ||
    esc_fail "hold services" "cannot write $esc_policy"
  p "services held"
}

esc_release_services() {
  if grep -q "^# escapement $ID" "$ESC_ROOT/usr/sbin/policy-rc.d" 2>/dev/null; then
    rm -f "$ESC_ROOT/usr/sbin/policy-rc.d"
  fi
  p "services released"
}

# Arguments: seconds to wait for the lock, then the command of apt-get.
esc_apt() {
  esc_wait=$1
  shift
  esc_text=$(DEBIAN_FRONTEND=noninteractive timeout -k 10 "$ESC_PACKAGE_LIMIT" apt-get -q -y \
    -o DPkg::Lock::Timeout="$esc_wait" -o Dpkg::Options::=--force-confold -o Dpkg::Options::=--force-confdef \
    --no-install-recommends "$@" 2>&1 9>&- </dev/null)
}

# Arguments: seconds to wait for the lock, then the packages, each with its version where one is wanted.
esc_install() {
  p "installing"
  if ! esc_apt "$@"; then
    case $esc_text in
      *'Unable to locate'* | *'no installation candidate'* | *'was not found'* | *'404'*)
        esc_apt "$1" update || esc_fail "update the package lists" "$esc_text"
        esc_apt "$@" || esc_fail "install packages" "$esc_text" ;;
      *'Could not get lock'* | *'is another process using it'* | *'Unable to lock'*)
        esc_fail "install packages" "another program holds the lock of apt or dpkg; waited $1 s" ;;
      *) esc_fail "install packages" "$esc_text" ;;
    esac
  fi
  esc_packages_now >"$T/packages.after"
  sync "$T/packages.after"
  p "installed"
}

esc_unit_file() {
  esc_run "$1 $2" systemctl --quiet "$1" "$2"
  p "$1 $2"
}

esc_unit_active() {
  p "$1 $2"
  esc_run "$1 $2" systemctl "$1" "$2"
  p "done: $1 $2"
}

# Arguments: unit, action, "" or the condition under which it must wait.
esc_restart() {
  if [ -n "$3" ]; then
    esc_reason=
    esc_active_scheduler
    case $? in
      0) esc_reason="this host is the active scheduler" ;;
      1) ;;
      *) esc_reason="could not find out whether this host is the active scheduler" ;;
    esac
    if [ -n "$esc_reason" ]; then
      esc_pending "$1" "$2" "$esc_reason"
      esc_say "deferred$TAB$1$TAB$esc_reason"
      p "deferred $1"
      return
    fi
  fi
  : >"$T/restarted/$1"
  sync "$T/restarted/$1" "$T/restarted"
  p "restarting $1"
  case $2 in
    restart) esc_verb=try-restart ;;
    reload) esc_verb=try-reload-or-restart ;;
    *) esc_verb=$2 ;;
  esac
  systemctl reset-failed "$1" >/dev/null 2>&1 9>&-
  esc_run "$2 $1" systemctl "$esc_verb" "$1"
  esc_restarted "$1"
}

# It runs with its new configuration, and nobody needs to remember the restart.
esc_restarted() {
  rm -f "$ESC_STATE/pending-restarts/$1"
  sync "$ESC_STATE/pending-restarts"
  p "restarted $1"
}

# Arguments: units that must be active, and stay so for a moment.
esc_probe() {
  esc_calm=0
  for esc_try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    if esc_text=$(systemctl is-active "$@" 2>&1 9>&-); then
      esc_calm=$((esc_calm + 1))
      [ "$esc_calm" -lt 3 ] || { p probed; return; }
    else
      esc_calm=0
    fi
    sleep 0.3
  done
  for esc_unit; do
    systemctl is-active --quiet "$esc_unit" 9>&- ||
      esc_fail "probe $esc_unit" "$(systemctl is-active "$esc_unit" 2>&1 9>&-): $(journalctl -q -n 2 -o cat -u "$esc_unit" 2>/dev/null 9>&-)"
  done
  esc_fail probe "does not stay active: $esc_text"
}

# Arguments: table, file. Keeps the sum of what the kernel lists for it.
esc_load_table() {
  esc_run "load table $1" nft -f "$2"
  mkdir -p "$ESC_STATE/nft"
  if esc_text=$(nft -s list table inet "$1" 2>&1); then
    esc_text=$(printf '%s' "$esc_text" | sha256sum)
    printf '%s\n' "${esc_text%% *}" >"$ESC_STATE/nft/$1.sum"
  else
    esc_fail "load table $1" "$esc_text"
  fi
  p "loaded table $1"
}
