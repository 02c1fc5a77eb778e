/** The deliveries of alerts: queued with the alert in one transaction, claimed, tried, accepted. */
import type { Queryable } from "../database.ts";

/** A message on its way to one channel, as it is queued. */
export interface NewDelivery {
  /** The same for every try, so that queueing twice queues once. */
  readonly messageId: string;
  readonly channel: string;
  readonly alertKey: string;
  readonly fallback: readonly string[];
  /** Plain JSON. */
  readonly message: unknown;
}

export interface Delivery extends NewDelivery {
  readonly deliveryId: number;
  /** Tries that were not accepted. */
  readonly attempts: number;
  readonly createdAt: Date;
}

/** What the spool knows about a delivery that the store has not heard of. */
export interface SettledDelivery extends NewDelivery {
  readonly createdAt: Date;
  readonly acceptedAt: Date | null;
}

/** Queues messages; one that is queued already stays as it is. @param now the database's clock, or what stands for it */
export async function queueDeliveries(
  db: Queryable,
  deliveries: readonly NewDelivery[],
  now: Date,
): Promise<void> {
  if (deliveries.length === 0) return;
  await db.query(
    `INSERT INTO escapement.alert_delivery (message_id, channel, alert_key, fallback, message, created_at, next_try_at)
     SELECT d ->> 'messageId', d ->> 'channel', d ->> 'alertKey',
       ARRAY (SELECT jsonb_array_elements_text(d -> 'fallback')), d -> 'message', $2, $2
     FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY e(d, n) ORDER BY n
     ON CONFLICT (message_id, channel) DO NOTHING`,
    [JSON.stringify(deliveries), now],
  );
}

/**
 * Claims what is due: of every channel that has something due, all that waits,
 * oldest first. A claim that is not settled until `until` ends by itself. What
 * is from after `now` is from before the database's clock went back: it is due.
 */
export async function claimDeliveries(
  db: Queryable,
  claim: {
    readonly now: Date;
    readonly until: Date;
    readonly by: string;
    readonly except: readonly string[];
    readonly limit?: number;
  },
): Promise<Delivery[]> {
  const { rows } = await db.query<Delivery>(
    `UPDATE escapement.alert_delivery d SET claimed_by = $3, claimed_until = $2
     WHERE d.delivery_id IN (
       SELECT w.delivery_id FROM escapement.alert_delivery w
       WHERE w.state = 'pending' AND w.channel <> ALL ($5::text[]) AND (coalesce(w.claimed_until, '-infinity') <= $1 OR w.created_at > $1) AND w.channel IN (
         SELECT r.channel FROM escapement.alert_delivery r
         WHERE r.state = 'pending' AND (r.next_try_at <= $1 AND coalesce(r.claimed_until, '-infinity') <= $1 OR r.created_at > $1))
       ORDER BY w.delivery_id LIMIT $4 FOR UPDATE SKIP LOCKED)
     RETURNING d.delivery_id AS "deliveryId", d.message_id AS "messageId", d.channel, d.alert_key AS "alertKey",
       d.fallback, d.message, d.attempts, d.created_at AS "createdAt"`,
    [claim.now, claim.until, claim.by, claim.limit ?? 1_000, claim.except],
  );
  return rows.sort((a, b) => a.deliveryId - b.deliveryId);
}

/** What a watchman of this name had in hand when it ended is free at once. */
export async function releaseClaims(db: Queryable, by: string): Promise<void> {
  await db.query(
    "UPDATE escapement.alert_delivery SET claimed_until = NULL WHERE state = 'pending' AND claimed_by = $1",
    [by],
  );
}

export async function acceptDeliveries(db: Queryable, ids: readonly number[], now: Date): Promise<void> {
  if (ids.length === 0) return;
  await db.query(
    `WITH done AS (
       UPDATE escapement.alert_delivery SET state = 'accepted', accepted_at = $2, claimed_until = NULL, last_error = NULL
       WHERE delivery_id = ANY ($1) RETURNING alert_key)
     UPDATE escapement.alert_outbox a SET sent_at = $2 FROM done d WHERE a.dedup_key = d.alert_key`,
    [ids, now],
  );
}

export interface FailedTry {
  readonly deliveryId: number;
  /** Null: given up. */
  readonly nextTryAt: Date | null;
  /** Without secrets. */
  readonly error: string;
}

export async function failDeliveries(db: Queryable, failed: readonly FailedTry[]): Promise<void> {
  if (failed.length === 0) return;
  await db.query(
    `UPDATE escapement.alert_delivery d
     SET attempts = attempts + 1, claimed_until = NULL, last_error = f.error,
       next_try_at = coalesce(f.next_try_at, d.next_try_at), state = CASE WHEN f.next_try_at IS NULL THEN 'failed' ELSE 'pending' END
     FROM unnest($1::bigint[], $2::timestamptz[], $3::text[]) f(delivery_id, next_try_at, error)
     WHERE d.delivery_id = f.delivery_id`,
    [
      failed.map(({ deliveryId }) => deliveryId),
      failed.map(({ nextTryAt }) => nextTryAt),
      failed.map(({ error }) => error),
    ],
  );
}

/**
 * Brings in what was queued, and perhaps sent, while the store was away. Doing it twice does no harm.
 * @returns keys of alerts that the store does not know (it was restored, or they were pruned): their messages are
 * left out, so that they keep nothing else from the records
 */
export async function bringInDeliveries(
  db: Queryable,
  settled: readonly SettledDelivery[],
): Promise<string[]> {
  if (settled.length === 0) return [];
  await db.query(
    `INSERT INTO escapement.alert_delivery AS a (message_id, channel, alert_key, fallback, message, created_at, next_try_at, state, accepted_at)
     SELECT d ->> 'messageId', d ->> 'channel', d ->> 'alertKey', ARRAY (SELECT jsonb_array_elements_text(d -> 'fallback')),
       d -> 'message', (d ->> 'createdAt')::timestamptz, (d ->> 'createdAt')::timestamptz,
       CASE WHEN d ->> 'acceptedAt' IS NULL THEN 'pending' ELSE 'accepted' END, (d ->> 'acceptedAt')::timestamptz
     FROM jsonb_array_elements($1::jsonb) WITH ORDINALITY e(d, n)
     WHERE EXISTS (SELECT 1 FROM escapement.alert_outbox o WHERE o.dedup_key = d ->> 'alertKey') ORDER BY n
     ON CONFLICT (message_id, channel) DO UPDATE SET state = 'accepted', accepted_at = excluded.accepted_at
       WHERE a.state = 'pending' AND excluded.state = 'accepted'`,
    [JSON.stringify(settled)],
  );
  const keys = [...new Set(settled.map(({ alertKey }) => alertKey))];
  const { rows } = await db.query<{ key: string }>(
    `SELECT key FROM unnest($1::text[]) key
     WHERE NOT EXISTS (SELECT 1 FROM escapement.alert_outbox o WHERE o.dedup_key = key)`,
    [keys],
  );
  return rows.map(({ key }) => key);
}

/** The fallback was told: it must be told of the end, too. */
export async function addToldChannels(
  db: Queryable,
  told: readonly { readonly alertKey: string; readonly channel: string }[],
): Promise<void> {
  if (told.length === 0) return;
  await db.query(
    `UPDATE escapement.alert_outbox a
     SET channels = ARRAY (SELECT DISTINCT unnest(a.channels || t.channels))
     FROM (SELECT u.alert_key, array_agg(u.channel) AS channels FROM unnest($1::text[], $2::text[]) u(alert_key, channel) GROUP BY 1) t
     WHERE a.dedup_key = t.alert_key`,
    [told.map(({ alertKey }) => alertKey), told.map(({ channel }) => channel)],
  );
}

export interface ChannelHealth {
  readonly channel: string;
  readonly pending: number;
  /** Given up within a day. */
  readonly failed: number;
  /** Of what waits. */
  readonly oldestAt: Date | null;
  readonly attempts: number;
  readonly lastAcceptedAt: Date | null;
  readonly lastError: string | null;
}

/** How each channel does. */
export async function channelHealth(db: Queryable, now: Date): Promise<ChannelHealth[]> {
  const { rows } = await db.query<ChannelHealth>(
    `SELECT channel, count(*) FILTER (WHERE state = 'pending')::int AS pending, count(*) FILTER (WHERE state = 'failed' AND created_at > $1::timestamptz - interval '1 day')::int AS failed,
       min(created_at) FILTER (WHERE state = 'pending') AS "oldestAt",
       coalesce(max(attempts) FILTER (WHERE state = 'pending'), 0)::int AS attempts, max(accepted_at) AS "lastAcceptedAt",
       (array_agg(last_error ORDER BY delivery_id DESC) FILTER (WHERE last_error IS NOT NULL AND state <> 'accepted'))[1] AS "lastError"
     FROM escapement.alert_delivery GROUP BY channel ORDER BY channel`,
    [now],
  );
  return rows;
}

export interface UnacceptedTest {
  readonly channel: string;
  readonly createdAt: Date;
  readonly attempts: number;
  readonly lastError: string | null;
}

/** Of each channel the latest test alert, where it was not accepted. */
export async function unacceptedTests(db: Queryable): Promise<UnacceptedTest[]> {
  const { rows } = await db.query<UnacceptedTest>(
    `SELECT channel, "createdAt", attempts, "lastError" FROM (
       SELECT DISTINCT ON (d.channel) d.channel, d.created_at AS "createdAt", d.attempts, d.last_error AS "lastError", d.state
       FROM escapement.alert_delivery d JOIN escapement.alert_outbox a ON a.dedup_key = d.alert_key AND a.kind = 'test-alert'
       ORDER BY d.channel, d.delivery_id DESC) latest WHERE state <> 'accepted'`,
  );
  return rows;
}

export interface AcceptedTest {
  readonly channel: string;
  readonly acceptedAt: Date;
}

/** Of each channel when it last accepted a test alert. */
export async function acceptedTests(db: Queryable): Promise<AcceptedTest[]> {
  const { rows } = await db.query<AcceptedTest>(
    `SELECT d.channel, max(d.accepted_at) AS "acceptedAt"
     FROM escapement.alert_delivery d JOIN escapement.alert_outbox a ON a.dedup_key = d.alert_key AND a.kind = 'test-alert'
     WHERE d.state = 'accepted' GROUP BY d.channel`,
  );
  return rows;
}
