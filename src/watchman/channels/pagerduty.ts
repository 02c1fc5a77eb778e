/** PagerDuty, Events API v2: one event a message; the deduplication key holds them together. */
import { createHash } from "node:crypto";
import type { WatchChannel } from "../../spec/watch-definition.ts";
import type { AlertMessage } from "../alert.ts";
import { readSecret } from "../secret.ts";
import { type Channel, subjectOf } from "./channel.ts";
import { attempt, post } from "./http-post.ts";

type Settings = Extract<WatchChannel, { type: "pagerduty" }>;

/** Limits of the API. */
const longestKey = 255;
const longestSummary = 1_024;

export function pagerdutyChannel(settings: Settings): Channel {
  const { name, type, timeoutMs } = settings;
  return {
    name,
    type,
    timeoutMs,
    keepsState: true,
    send: (messages) =>
      attempt(async () => {
        const [url, routingKey] = await Promise.all([
          readSecret(settings.url),
          readSecret(settings.routingKey),
        ]);
        for (const message of messages) {
          const body = JSON.stringify(eventOf(message, routingKey));
          const answer = await post({ url, body, timeoutMs, secrets: [routingKey] });
          if (!answer.accepted) return answer;
        }
        return { accepted: true };
      }),
  };
}

function eventOf(message: AlertMessage, routingKey: string): Record<string, unknown> {
  return {
    routing_key: routingKey,
    event_action: message.phase === "resolved" ? "resolve" : "trigger",
    dedup_key: shortKey(message.key),
    payload: {
      summary: subjectOf(message).slice(0, longestSummary),
      source: message.job ?? "escapement",
      severity: message.severity,
      timestamp: message.openedAt,
      component: message.rule,
      custom_details: { hint: message.hint, fireTime: message.fireTime, evidence: message.evidence },
    },
  };
}

/** A key that is too long is cut, and stays one of its own by its digest. */
function shortKey(key: string): string {
  if (key.length <= longestKey) return key;
  const digest = createHash("sha256").update(key).digest("hex").slice(0, 32);
  return `${key.slice(0, longestKey - digest.length - 1)}-${digest}`;
}
