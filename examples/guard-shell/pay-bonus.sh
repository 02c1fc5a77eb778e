#!/bin/sh
# Pays the bonuses of one period; may be run, killed and run again as often as you like.
#
#   ./pay-bonus.sh postgres://… http://…/pay 2026-07
#
# Exit code 0: everybody is paid. 3: somebody is not, yet: see `escapement guard list`.
# Needs psql and curl.
set -eu

database_url=$1
payment_url=$2
period=$3
lease='30 seconds'

# Runs the SQL of standard input; values go in as psql variables, so that quoting is psql's business.
sql() {
  psql "$database_url" -X -q -At -v ON_ERROR_STOP=1 "$@"
}

# Prints how the call stands afterwards: done, refused, in-doubt.
call() {
  key=$1 token=$2 request=$3
  echo "SELECT escapement_guard.call_confirm(:'key', :token);" | sql -v key="$key" -v token="$token" > /dev/null
  answer=$(mktemp)
  # Without an answer curl fails and the status is 000: it may have been accepted.
  status=$(curl -s -o "$answer" -w '%{http_code}' --max-time 20 -H "Idempotency-Key: $key" -d "$request" "$payment_url") || true
  case $status in
    2??) end="call_done(:'key', :token, :'what'::jsonb)" what=$(cat "$answer") ;;
    4??) end="call_refused(:'key', :token, to_jsonb(:'what'::text))" what=$(cat "$answer") ;;
    *) end="call_doubt(:'key', :token, :'what')" what="status $status" ;;
  esac
  rm -f "$answer"
  echo "SELECT escapement_guard.$end;" | sql -v key="$key" -v token="$token" -v what="$what"
}

# The row and its key commit together: a second run finds the key and writes nothing.
record() {
  sql -v key="$1" -v period="$period" -v user="$2" -v cents="$3" \
    -v fence="${ESCAPEMENT_FENCE_TOKEN:-}" -v resource="${ESCAPEMENT_JOB:-}/${ESCAPEMENT_FIRE_TIME:-${ESCAPEMENT_PERIOD:-}}/${ESCAPEMENT_SHARD_NO:-0}" <<'SQL' > /dev/null
BEGIN;
SELECT escapement_guard.enter();
-- Started by `escapement once` or an executor: a holder that was frozen must not write any more.
SELECT escapement_guard.fence(:'resource', nullif(:'fence', '')::bigint) WHERE :'fence' <> '';
SELECT claimed FROM escapement_guard.claim(:'key') \gset
\if :claimed
INSERT INTO reward_records (batch_id, user_id, cents) VALUES (:'period', :'user', :cents);
\endif
COMMIT;
SQL
}

people=$(echo "SELECT user_id, cents FROM bonus_due WHERE batch_id = :'period' ORDER BY user_id;" | sql -v period="$period" -F ' ')
code=0
while read -r user cents; do
  [ -n "$user" ] || continue
  key="bonus/$period/$user"
  request="{\"month\": \"$period\", \"userId\": \"$user\", \"cents\": $cents}"
  # psql commits every statement by itself: the intention is committed before the call is made.
  begin=$(echo "SELECT decision, coalesce(token, '-') FROM escapement_guard.call_begin(:'key', :'request'::jsonb, 'payments', true, :'lease'::interval);" |
    sql -F ' ' -v key="$key" -v request="$request" -v lease="$lease")
  decision=${begin% *}
  if [ "$decision" = call ]; then decision=$(call "$key" "${begin#* }" "$request"); fi
  if [ "$decision" = done ]; then
    record "$key" "$user" "$cents"
  else
    echo "$key: $decision" >&2
    code=3
  fi
done <<EOF_PEOPLE
$people
EOF_PEOPLE
exit $code
