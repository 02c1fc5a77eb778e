/** A Slack webhook: one text. Its URL is its secret. */
import type { WatchChannel } from "../../spec/watch-definition.ts";
import { readSecret } from "../secret.ts";
import { type Acceptance, type Channel, digestText, textOf } from "./channel.ts";
import { attempt, post } from "./http-post.ts";

type Settings = Extract<WatchChannel, { type: "slack" }>;

/** Slack cuts longer texts itself. */
const longestText = 35_000;

export function slackChannel(settings: Settings): Channel {
  const { name, type, timeoutMs } = settings;
  const say = (text: string): Promise<Acceptance> =>
    attempt(async () => {
      const url = await readSecret(settings.url);
      const body = JSON.stringify({ text: escapeText(text).slice(0, longestText) });
      return await post({ url, body, timeoutMs });
    });
  return {
    name,
    type,
    timeoutMs,
    keepsState: false,
    send: ([message]) => say(textOf(message!)),
    sendDigest: (digest) => say(digestText(digest)),
  };
}

/** These three have a meaning there: a text from a job must not be able to call a whole channel. */
function escapeText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
