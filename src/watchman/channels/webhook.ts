/**
 * A webhook: JSON, signed with HMAC-SHA256 over `TIMESTAMP.BODY`.
 *
 *   escapement-timestamp  seconds since 1970, UTC; a receiver refuses old ones
 *   escapement-signature  sha256=HEX
 *   idempotency-key       the same for every try of a message
 */
import { createHmac } from "node:crypto";
import type { WatchChannel } from "../../spec/watch-definition.ts";
import { readSecret } from "../secret.ts";
import type { Acceptance, Channel } from "./channel.ts";
import { attempt, post } from "./http-post.ts";

type Settings = Extract<WatchChannel, { type: "webhook" }>;

/** The signature of a body. @param timestamp seconds since 1970 */
export function signature(secret: string, timestamp: number, body: string): string {
  return `sha256=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex")}`;
}

export function webhookChannel(settings: Settings): Channel {
  const { name, type, timeoutMs } = settings;
  const hand = (id: string, document: Record<string, unknown>): Promise<Acceptance> =>
    attempt(async () => {
      const [url, secret] = await Promise.all([readSecret(settings.url), readSecret(settings.secret)]);
      const body = JSON.stringify({ schemaVersion: 1, id, ...document });
      // The receiver compares with its own clock; this is no decision of ours.
      const timestamp = Math.floor(Date.now() / 1_000);
      const headers = {
        "escapement-timestamp": String(timestamp),
        "escapement-signature": signature(secret, timestamp, body),
        "idempotency-key": encodeURIComponent(id).slice(0, 255),
      };
      return await post({ url, body, headers, timeoutMs, secrets: [secret] });
    });
  return {
    name,
    type,
    timeoutMs,
    keepsState: false,
    send: ([message]) => hand(message!.id, { kind: "alert", alert: message }),
    sendDigest: ({ id, messages }) => hand(id, { kind: "digest", count: messages.length, alerts: messages }),
  };
}
