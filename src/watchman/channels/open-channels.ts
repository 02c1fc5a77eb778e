/** From the channels of a watch file to channels that send. */
import type { WatchChannel } from "../../spec/watch-definition.ts";
import { alertmanagerChannel } from "./alertmanager.ts";
import type { Channel } from "./channel.ts";
import { execChannel } from "./exec.ts";
import { pagerdutyChannel } from "./pagerduty.ts";
import { slackChannel } from "./slack.ts";
import { smtpChannel } from "./smtp.ts";
import { webhookChannel } from "./webhook.ts";

/** One channel. Nothing is contacted and no secret is read before something is sent. */
export function openChannel(settings: WatchChannel): Channel {
  switch (settings.type) {
    case "webhook":
      return webhookChannel(settings);
    case "alertmanager":
      return alertmanagerChannel(settings);
    case "exec":
      return execChannel(settings);
    case "pagerduty":
      return pagerdutyChannel(settings);
    case "slack":
      return slackChannel(settings);
    case "smtp":
      return smtpChannel(settings);
  }
}

export function openChannels(channels: readonly WatchChannel[]): ReadonlyMap<string, Channel> {
  return new Map(channels.map((one) => [one.name, openChannel(one)]));
}
