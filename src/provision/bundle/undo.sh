# Needs sh, coreutils, flock and systemctl; packages are taken off with dpkg.
# Usage: sh undo.sh timer|boot|self|rollback. Safe to run any number of times.
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
[ -z "$ESC_PATH" ] || PATH=$ESC_PATH:$PATH
export LC_ALL PATH
umask 022
mode=${1:-boot}
problems=0
point=0
trap : HUP PIPE

note() { printf '%s\n' "$*" >>"$T/undo.log"; }

try() {
  timeout -k 5 120 "$@" >>"$T/undo.log" 2>&1 </dev/null 9>&- || {
    problems=$((problems + 1))
    note "failed: $*"
  }
}

# A point at which tests kill this script.
u() {
  point=$((point + 1))
  if [ "$ESC_UNDO_STOP_AT" = "$point" ]; then kill -9 $$; fi
}

disarm() {
  units=$ESC_ROOT/etc/systemd/system
  rm -f "$units/multi-user.target.wants/escapement-revert-$ID.service" "$units/escapement-revert-$ID.service"
  for letter in a b; do
    systemctl stop "escapement-revert-$ID-$letter.timer" >/dev/null 2>&1 9>&-
  done
  if grep -q "^# escapement $ID" "$ESC_ROOT/usr/sbin/policy-rc.d" 2>/dev/null; then
    rm -f "$ESC_ROOT/usr/sbin/policy-rc.d"
  fi
}

kill_tree() {
  for child in $(cat "/proc/$1/task/$1/children" 2>/dev/null); do kill_tree "$child"; done
  kill -9 "$1" 2>/dev/null
}

if [ "$mode" = timer ] && read -r pid start <"$T/runner" && [ -r "/proc/$pid/stat" ] &&
  [ "$(cut -d ' ' -f 22 "/proc/$pid/stat")" = "$start" ]; then
  # The runner hangs, perhaps in the very restart that cut the host off: nobody waits for it.
  [ ! -e "$T/commit" ] || exit 0
  kill -STOP "$pid"
  for child in $(cat "/proc/$pid/task/$pid/children" 2>/dev/null); do kill_tree "$child"; done
  kill -9 "$pid"
fi
locked=no
case $mode in
  self) locked=yes ;;
  rollback-locked) locked=yes mode=rollback ;;
esac
if [ "$locked" = no ]; then
  exec 9>>"$S/lock"
  flock -w 600 9 || exit 75
fi
if [ -e "$T/rolled-back" ]; then exit 0; fi
if [ -e "$T/reverted" ]; then disarm; exit 0; fi
# Read last, under the lock: whoever confirmed held it, too.
if [ -e "$T/commit" ] && [ "$mode" != rollback ]; then disarm; exit 0; fi
note "undo: $mode"
u

# Whether services may have seen the new files: a boot starts them with what is there.
again=no
if [ "$(cat "$T/boot-id" 2>/dev/null)" != "$(cat /proc/sys/kernel/random/boot_id)" ]; then again=yes; fi

# Arguments: number, path.
undo_path() {
  rm -f -- "${2%/*}/.escapement-$ID-$1"
  [ -e "$T/renaming" ] || return 0
  if [ -e "$T/orig/$1" ] || [ -L "$T/orig/$1" ]; then
    try cp -a -T -- "$T/orig/$1" "${2%/*}/.escapement-$ID-$1"
    try sync -- "${2%/*}/.escapement-$ID-$1"
    try mv -f -T -- "${2%/*}/.escapement-$ID-$1" "$2"
  else
    try rm -f -- "$2"
  fi
  if [ -d "${2%/*}" ]; then try sync -- "${2%/*}"; fi
  u
}

# Arguments: path, then owner, group and mode as they were; without these it was not there.
undo_directory() {
  [ -d "$1" ] || return 0
  if [ $# = 1 ]; then
    try rmdir --ignore-fail-on-non-empty -- "$1"
  else
    try chown -- "$2:$3" "$1"
    try chmod -- "$4" "$1"
  fi
  u
}

undo_parents() {
  [ -e "$T/made" ] || return 0
  tac "$T/made" | while IFS= read -r dir; do
    [ ! -d "$dir" ] || rmdir --ignore-fail-on-non-empty -- "$dir" 2>/dev/null
  done
  u
}

undo_run() {
  [ ! -e "$T/renaming" ] || try "$@"
  u
}

undo_unit() {
  state=$(systemctl show -p LoadState --value "$2" 2>/dev/null 9>&-)
  [ "$state" = not-found ] || try systemctl --quiet "$1" "$2"
  u
}

# Arguments: unit, action, yes where it ran before. A service that the change broke runs no
# more, and may have failed so often that systemd refuses to start it.
undo_restart() {
  if [ "$again" = yes ] || [ -e "$T/restarted/$1" ]; then
    printf '%s after a change was undone\n' "$2" >"$S/pending-restarts/$1"
    before=$problems
    if [ "$3" = yes ]; then
      systemctl reset-failed "$1" >/dev/null 2>&1 9>&-
      case $2 in
        reload) try systemctl reload-or-restart "$1" ;;
        *) try systemctl restart "$1" ;;
      esac
    else
      try systemctl try-restart "$1"
    fi
    [ "$problems" != "$before" ] || rm -f "$S/pending-restarts/$1"
  elif [ -e "$T/pending/$1" ]; then
    cp -a -T "$T/pending/$1" "$S/pending-restarts/$1"
  else
    rm -f "$S/pending-restarts/$1"
  fi
  u
}

# Arguments: table, yes where it was there before, file.
undo_table() {
  [ -e "$T/renaming" ] || return 0
  if [ "$2" = yes ]; then
    try nft -f "$3"
    sum=$(nft -s list table inet "$1" 2>/dev/null)
    sum=$(printf '%s' "$sum" | sha256sum)
    [ ! -e "$S/nft/$1.sum" ] || printf '%s\n' "${sum%% *}" >"$S/nft/$1.sum"
  else
    nft delete table inet "$1" 2>/dev/null
    rm -f "$S/nft/$1.sum"
  fi
  u
}

undo_user() { ! getent passwd "$1" >/dev/null || try userdel "$1"; u; }
undo_group() { ! getent group "$1" >/dev/null || try groupdel "$1"; u; }

# Takes off every package that the transaction brought, also those pulled in. Where it
# was cut short while it installed, these are all that were not there before. A rollback
# comes later, perhaps much later: what a service has written since, a purge would delete.
undo_packages() {
  list=$T/packages.after
  if [ ! -e "$list" ]; then
    list=$T/packages.now
    dpkg-query -W -f '${binary:Package} ${db:Status-Status}\n' 2>/dev/null |
      grep -v -e ' not-installed$' -e ' config-files$' | cut -d ' ' -f 1 | sort >"$list"
  fi
  DEBIAN_FRONTEND=noninteractive
  export DEBIAN_FRONTEND
  comm -13 "$T/packages.before" "$list" >"$T/packages.new"
  # What had left its configuration behind before does so again.
  known=$(comm -12 "$T/packages.new" "$T/packages.kept")
  fresh=$(comm -23 "$T/packages.new" "$T/packages.kept")
  if [ "$mode" = rollback ] || [ -n "$known" ]; then
    # All at once: one may need another.
    [ ! -s "$T/packages.new" ] || try dpkg --remove --force-remove-reinstreq $(cat "$T/packages.new")
  fi
  if [ "$mode" != rollback ] && [ -n "$fresh" ]; then
    try dpkg --purge --force-remove-reinstreq $fresh
  fi
  u
}

undo_done() {
  sync "$S/pending-restarts"
  end=reverted
  [ "$mode" != rollback ] || end=rolled-back
  printf '%s problem(s)\n' "$problems" >"$T/.$end"
  sync "$T/.$end"
  u
  mv -f "$T/.$end" "$T/$end"
  sync "$T"
  disarm
  exit 0
}
