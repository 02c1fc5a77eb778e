/**
 * Alertmanager, API v2. It keeps alerts by their labels and resolves what is
 * not posted again, so labels must not change while an alert lasts, and open
 * alerts are posted again and again with an end a few rounds ahead.
 */
import type { WatchChannel } from "../../spec/watch-definition.ts";
import type { AlertMessage } from "../alert.ts";
import { readSecret } from "../secret.ts";
import type { Channel } from "./channel.ts";
import { attempt, post } from "./http-post.ts";

type Settings = Extract<WatchChannel, { type: "alertmanager" }>;

/** An open alert survives this many posts that did not come. */
const roundsAhead = 4;
const alertsPerPost = 200;

export function alertmanagerChannel(settings: Settings): Channel {
  const { name, type, timeoutMs, resendEveryMs } = settings;
  const asPosted = (message: AlertMessage) => ({
    // Severity is no label: it can change, and another label is another alert. The annotation has it.
    labels: {
      alertname: message.rule,
      key: message.key,
      source: "escapement",
      ...(message.job !== undefined && { job: message.job }),
      ...(message.cause !== undefined && { cause: message.cause }),
    },
    annotations: {
      summary: message.message,
      severity: message.severity,
      ...(message.hint !== "" && { hint: message.hint }),
      ...(message.fireTime !== undefined && { fireTime: message.fireTime }),
    },
    ...span(message, roundsAhead * resendEveryMs),
  });
  return {
    name,
    type,
    timeoutMs,
    keepsState: true,
    resendEveryMs,
    send: (messages) =>
      attempt(async () => {
        const base = (await readSecret(settings.url)).replace(/\/+$/, "");
        const { url, headers } = withoutLogin(`${base}/api/v2/alerts`);
        // The latest word about each alert counts; an earlier one in the same post could undo it.
        const latest = [...new Map(messages.map((one) => [one.key, one])).values()];
        for (let i = 0; i < latest.length; i += alertsPerPost) {
          const body = JSON.stringify(latest.slice(i, i + alertsPerPost).map(asPosted));
          const answer = await post({ url, body, headers, timeoutMs });
          if (!answer.accepted) return answer;
        }
        return { accepted: true };
      }),
  };
}

/**
 * Begin and end by its clock, as far as ours knows it: one that is ahead of it
 * must not make alerts that end before they begin. A test alert ends by itself.
 */
function span(message: AlertMessage, aheadMs: number): { startsAt: string; endsAt: string } {
  const now = new Date();
  const ends =
    message.resolvedAt === undefined
      ? new Date(now.getTime() + aheadMs).toISOString()
      : earlier(message.resolvedAt, now.toISOString());
  return { startsAt: earlier(message.openedAt, earlier(ends, now.toISOString())), endsAt: ends };
}

function earlier(one: string, other: string): string {
  return Date.parse(other) < Date.parse(one) ? other : one;
}

/** A login in the URL becomes a header: fetch refuses such a URL. */
function withoutLogin(text: string): { url: string; headers: Record<string, string> } {
  const url = new URL(text);
  if (url.username === "") return { url: text, headers: {} };
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  url.username = "";
  url.password = "";
  return { url: url.href, headers: { authorization: `Basic ${Buffer.from(login).toString("base64")}` } };
}
