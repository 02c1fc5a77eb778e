
# --- what may be asked ------------------------------------------------------------------

[ "$(id -u)" = 0 ] || refuse 'this runs as root, by way of sudo'
if [ $# -eq 0 ]; then
  set -f
  # Words are split at blanks, and nothing else is read into them.
  # shellcheck disable=SC2086
  set -- ${SSH_ORIGINAL_COMMAND:-}
  set +f
  case ${1:-} in look | begin | progress | halt | audit) ;; *) refuse 'this login looks, begins, watches, halts and audits drills, and does nothing else' ;; esac
fi
for word in "$@"; do
  case $word in *[!A-Za-z0-9._:@/=,+-]*) refuse 'a word has characters in it that no word has' ;; esac
done
verb=${1:-}
[ $# -eq 0 ] || shift
case $verb in
  look) look "$@" ;;
  begin) begin ;;
  progress) progress "${1:-}" "${2:-0}" ;;
  halt) halt ;;
  audit) audit ;;
  boot) boot ;;
  run | keep | restore)
    load_run "${1:-}" || refuse "there is no run ${1:-}"
    case $verb in
      run) run_drill ;;
      keep) keep_watch ;;
      restore)
        restore_run "${2:-nobody}"
        finish_run "${2:-nobody}"
        ;;
    esac
    ;;
  *) refuse "there is no $verb" ;;
esac
exit 0
