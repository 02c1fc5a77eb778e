"""Pays the bonuses of one period; may be run, killed and run again as often as you like.

    python3 pay_bonus.py postgres://… http://…/pay 2026-07

Exit code 0: everybody is paid. 3: somebody is not, yet: see `escapement guard list`.
Works with psycopg (version 3) and with psycopg2.
"""
import json
import os
import sys
import urllib.error
import urllib.request

try:
    import psycopg
except ImportError:
    import psycopg2 as psycopg

LEASE = "30 seconds"


def main(database_url, payment_url, period):
    db = psycopg.connect(database_url)
    people = query(db, "SELECT user_id, cents FROM bonus_due WHERE batch_id = %s ORDER BY user_id", (period,))
    db.commit()
    unpaid = [user for user, cents in people if not pay_once(db, payment_url, period, user, cents)]
    if unpaid:
        print("not paid for certain:", ", ".join(unpaid), file=sys.stderr)
        return 3
    return 0


def pay_once(db, payment_url, period, user, cents):
    """True when the person is paid, by this run or an earlier one, and the record is written."""
    key = f"bonus/{period}/{user}"
    request = {"month": period, "userId": user, "cents": cents}
    decision, token = query(
        db,
        "SELECT decision, token FROM escapement_guard.call_begin(%s, %s::jsonb, 'payments', true, %s::interval)",
        (key, json.dumps(request), LEASE),
    )[0]
    # psycopg opens a transaction by itself. The intention must be committed before the call.
    db.commit()
    if decision == "call":
        decision = call(db, payment_url, key, int(token), request)
    if decision != "done":
        print(f"{key}: {decision}", file=sys.stderr)
        return False
    record(db, key, period, user, cents)
    return True


def call(db, payment_url, key, token, request):
    query(db, "SELECT escapement_guard.call_confirm(%s, %s)", (key, token))
    db.commit()
    try:
        response = post(payment_url, key, request)
        state = query(db, "SELECT escapement_guard.call_done(%s, %s, %s::jsonb)", (key, token, json.dumps(response)))
    except urllib.error.HTTPError as error:
        # 4xx is a certain no. Anything else may have been accepted.
        end = "call_refused" if 400 <= error.code < 500 else "call_doubt"
        what = json.dumps({"status": error.code})
        cast = "::jsonb" if end == "call_refused" else ""
        state = query(db, f"SELECT escapement_guard.{end}(%s, %s, %s{cast})", (key, token, what))
    except OSError as error:
        state = query(db, "SELECT escapement_guard.call_doubt(%s, %s, %s)", (key, token, str(error)))
    db.commit()
    return state[0][0]


def record(db, key, period, user, cents):
    """The row and its key commit together: a second run finds the key and writes nothing."""
    query(db, "SELECT escapement_guard.enter()")
    if os.environ.get("ESCAPEMENT_FENCE_TOKEN"):
        # Started by `escapement once` or an executor: a holder that was frozen must not write any more.
        slot = os.environ.get("ESCAPEMENT_FIRE_TIME") or os.environ["ESCAPEMENT_PERIOD"]
        resource = f"{os.environ['ESCAPEMENT_JOB']}/{slot}/{os.environ.get('ESCAPEMENT_SHARD_NO', '0')}"
        query(db, "SELECT escapement_guard.fence(%s, %s)", (resource, int(os.environ["ESCAPEMENT_FENCE_TOKEN"])))
    claimed = query(db, "SELECT claimed FROM escapement_guard.claim(%s)", (key,))[0][0]
    if claimed:
        with db.cursor() as cursor:
            cursor.execute("INSERT INTO reward_records (batch_id, user_id, cents) VALUES (%s, %s, %s)", (period, user, cents))
    db.commit()


def post(url, key, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Idempotency-Key": key})
    with urllib.request.urlopen(request, timeout=20) as response:
        return json.load(response)


def query(db, sql, values=()):
    with db.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
