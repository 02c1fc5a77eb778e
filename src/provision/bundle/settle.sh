# Ends a transaction: confirms it, reverts it, or rolls it back later.

esc_confirm() {
  T=$ESC_STATE/txn/$ID
  exec 9>>"$ESC_STATE/lock"
  flock -w 20 9 || esc_result busy "another change is being made on this host"
  [ -d "$T" ] || esc_result gone "the host knows nothing of transaction $ID"
  esc_txn_state "$T"
  case $esc_txn in
    committed) esc_result committed "" ;;
    applied) ;;
    *) esc_result "$esc_txn" "$(head -n 5 "$T/undo.log" 2>/dev/null)" ;;
  esac
  sh "$T/observe.sh" >"$T/after" 2>/dev/null 9>&-
  printf 'confirmed\n' >"$T/.commit"
  sync "$T/.commit" "$T/after"
  mv -f "$T/.commit" "$T/commit"
  sync "$T"
  p commit
  for esc_letter in a b; do
    systemctl stop "escapement-revert-$ID-$esc_letter.timer" >/dev/null 2>&1 9>&-
  done
  esc_units=$ESC_ROOT/etc/systemd/system
  rm -f "$esc_units/multi-user.target.wants/escapement-revert-$ID.service" "$esc_units/escapement-revert-$ID.service"
  p disarmed
  esc_prune
  esc_result committed ""
}

# The last ten transactions stay.
esc_prune() {
  set -- "$ESC_STATE"/txn/*
  while [ $# -gt 10 ]; do
    esc_txn_state "$1"
    case $esc_txn in committed | reverted | rolled-back) rm -rf "$1" ;; esac
    shift
  done
}

# The last committed transaction, and what it changed; changes nothing.
esc_last() {
  T=
  for esc_dir in "$ESC_STATE"/txn/*; do
    [ -d "$esc_dir" ] || continue
    esc_txn_state "$esc_dir"
    if [ "$esc_txn" = committed ]; then T=$esc_dir; fi
  done
  [ -n "$T" ] || esc_result none "there is no committed transaction to roll back"
  esc_say "$(sed -n "s/^# change: /change$TAB/p" "$T/undo.sh")"
  esc_result last "${T##*/}"
}

# Arguments: "" or the transaction, "force" or "".
esc_rollback() {
  exec 9>>"$ESC_STATE/lock"
  flock -w 20 9 || esc_result busy "another change is being made on this host"
  T=
  for esc_dir in "$ESC_STATE"/txn/*; do
    [ -d "$esc_dir" ] || continue
    esc_txn_state "$esc_dir"
    if [ "$esc_txn" = committed ]; then T=$esc_dir; fi
  done
  [ -n "$T" ] || esc_result none "there is no committed transaction to roll back"
  if [ -n "$1" ] && [ "${T##*/}" != "$1" ]; then
    esc_result refused "$1 is not the last committed transaction, ${T##*/} is; they are rolled back from the last"
  fi
  if [ "$2" != force ]; then
    sh "$T/observe.sh" >"$T/seen" 2>/dev/null 9>&-
    if ! cmp -s "$T/after" "$T/seen"; then
      esc_say "$(comm -3 "$T/after" "$T/seen" | head -n 50 | sed "s/^$TAB*/moved$TAB/")"
      esc_result moved "the host has changed since transaction ${T##*/}"
    fi
  fi
  sh "$T/undo.sh" rollback-locked >/dev/null 2>&1
  if [ -e "$T/rolled-back" ]; then
    esc_result rolled-back "${T##*/}: $(head -n 1 "$T/rolled-back")"
  fi
  esc_result broken "${T##*/} was not rolled back, see $T/undo.log"
}

# Ends now what the timer would end later.
esc_revert() {
  T=$ESC_STATE/txn/$ID
  [ -f "$T/undo.sh" ] || esc_result gone "the host knows nothing of transaction $ID"
  sh "$T/undo.sh" timer >/dev/null 2>&1
  esc_txn_state "$T"
  esc_result "$esc_txn" "$(head -n 1 "$T/reverted" 2>/dev/null)"
}
