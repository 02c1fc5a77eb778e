
# --- begin: refuse, or leave the host on its own -----------------------------------

begin() {
  mkdir -p "$work" "$kept/used" "$kept/runs" || refuse "$kept cannot be written"
  # One at a time, to the end of this program.
  exec 7>>"$work/begin.lock"
  flock -n 7 || refuse "another order is being read"
  incoming=$work/incoming
  rm -rf "$incoming"
  mkdir "$incoming"
  timeout 10 head -c 16384 | awk -v folder="$incoming" '
    /^-----BEGIN SSH SIGNATURE-----$/ { signature = 1 }
    { print > (folder (signature ? "/signature" : "/order")) }'
  [ -s "$incoming/order" ] && [ -s "$incoming/signature" ] || refuse "there is no signed order on standard input"
  is_roots "$settings/signers" || refuse "$settings/signers is missing, or others than root may write it"
  ssh-keygen -Y verify -f "$settings/signers" -I escapement-drill -n escapement-drill \
    -s "$incoming/signature" <"$incoming/order" >/dev/null 2>&1 || refuse "the signature is not right"
  read_order "$incoming/order"
  check_order
  end_stale_run
  if [ -e "$work/current" ]; then refuse "run $(cat "$work/current") is on"; fi
  mkdir "$kept/used/$o_nonce" 2>/dev/null || refuse "this order was used before"
  check_allowed
  trouble=$(own_trouble | head -n 1)
  [ -z "$trouble" ] || refuse "$trouble"
  find "$kept/used" -mindepth 1 -maxdepth 1 -mtime +1 -exec rmdir {} + 2>/dev/null
  forget_old_runs
  stage
  arm || {
    said=$arm_failed
    disarm
    refuse "the host would not come back by itself: $said"
  }
  # From here on the run is the one that is on. Until here it could not have begun.
  (set -C && printf '%s\n' "$id" >"$work/current") 2>/dev/null || refuse "another run is on"
  if [ -e "$run/restored" ] || has_event restored; then
    rm -f "$work/current"
    refuse "the limit was over before the drill could begin: this host is too slow for it"
  fi
  event armed fault "$o_fault" limitMs $((o_limitSeconds * 1000)) deadlineBootMs "$s_deadline" timer true keeper true
  systemd-run --quiet --collect --no-block --unit="$unit" -p OOMScoreAdjust=-900 \
    -p "ExecStopPost=/bin/sh $run/drill restore $id main-gone" -p TimeoutStopSec=60 \
    /bin/sh "$run/drill" run "$id" || {
    restore_run nobody
    refuse "systemd did not start the drill"
  }
  echo "begun $id"
}

# A run of ours whose every actor is gone is taken back before the next begins.
end_stale_run() {
  [ -e "$work/current" ] || return 0
  read -r old <"$work/current" || :
  if [ -z "$old" ] || [ ! -f "$work/$old/order" ]; then
    rm -f "$work/current"
    return
  fi
  for one in "$prefix-$old.service" "$prefix-$old-timer.timer" "$prefix-$old-keeper.service"; do
    case $(systemctl show -p ActiveState --value "$one") in inactive | failed) ;; *) return ;; esac
  done
  /bin/sh "$work/$old/drill" restore "$old" next-order
}

forget_old_runs() {
  for folder in "$work" "$kept/runs"; do
    find "$folder" -mindepth 1 -maxdepth 1 -type d -name '*-*-*-*-*' -printf '%T@ %p\n' | sort -rn | tail -n +30 |
      cut -d ' ' -f 2 | while read -r old; do rm -rf --one-file-system "$old"; done
  done
}

# Whatever the way back needs is written, and on disk, before anything is touched.
stage() {
  id=$o_run
  run=$work/$id
  unit=$prefix-$id
  mkdir "$run" 2>/dev/null && mkdir "$kept/runs/$id" 2>/dev/null || refuse "run $id was here before"
  # The program as it is now: an upgrade in the middle of a drill changes nothing.
  cp -- "$0" "$run/drill"
  cp "$incoming/order" "$incoming/signature" "$run/"
  boot_ms
  save savedBootMs "$now"
  save deadline $((now + o_limitSeconds * 1000))
  save boot "$boot_id"
  load_run "$id"
  "${group}_save"
  save failed "$(systemctl list-units --failed --plain --no-legend --no-pager | awk '{ print $1 }' | tr '\n' ' ')"
  : >"$run/events"
  cp "$run/order" "$run/saved" "$run/drill" "$kept/runs/$id/"
  sync "$kept/runs/$id/order" "$kept/runs/$id/saved" "$kept/runs/$id/drill" "$kept/runs/$id"
  load_run "$id"
}

# Two dead-men that need neither us nor each other: a timer of systemd, and a
# service that sleeps. A step of the clock may lose a timer; a signal may kill a
# service, which systemd then starts again.
arm() {
  boot_ms
  left=$((s_deadline - now))
  arm_failed='the timer could not be set'
  systemd-run --quiet --collect --unit="$unit-timer" --on-active="${left}ms" \
    --timer-property=AccuracySec=1us --timer-property=RemainAfterElapse=no \
    -p Restart=on-failure -p RestartSec=100ms -p StartLimitIntervalSec=0 -p OOMScoreAdjust=-900 \
    /bin/sh "$run/drill" restore "$id" timer || return 1
  arm_failed='the keeper could not be started'
  systemd-run --quiet --collect --unit="$unit-keeper" \
    -p Restart=on-failure -p RestartSec=100ms -p StartLimitIntervalSec=0 -p OOMScoreAdjust=-900 \
    /bin/sh "$run/drill" keep "$id" || return 1
  arm_failed="the timer is not set for the deadline"
  timer_is_set || return 1
  arm_failed='the keeper does not run'
  [ "$(systemctl show -p SubState --value "$unit-keeper.service")" = running ] || return 1
}

# systemd's own word that the timer elapses when it must, within a second.
timer_is_set() {
  systemctl show -p ActiveState,SubState,NextElapseUSecMonotonic,ActiveEnterTimestampMonotonic "$unit-timer.timer" |
    awk -F = -v left="$left" '
      BEGIN { unit["month"] = 2629800; unit["w"] = 604800; unit["d"] = 86400; unit["h"] = 3600; unit["y"] = 31557600
              unit["min"] = 60; unit["s"] = 1; unit["ms"] = 0.001; unit["us"] = 0.000001 }
      $1 == "ActiveState" { active = $2 }
      $1 == "SubState" { sub_state = $2 }
      $1 == "ActiveEnterTimestampMonotonic" { entered = $2 / 1000000 }
      $1 == "NextElapseUSecMonotonic" {
        count = split($2, words, " ")
        for (i = 1; i <= count; i++) {
          name = words[i]
          sub(/^[0-9.]+/, "", name)
          if (!(name in unit)) exit 1
          next_at += words[i] * unit[name]
        }
      }
      END { error = next_at - entered - left / 1000
            exit !(active == "active" && sub_state == "waiting" && error > -1 && error < 1) }'
}

disarm() {
  systemctl stop --no-block "$prefix-$id-timer.timer" "$prefix-$id-keeper.service" 2>/dev/null
}
