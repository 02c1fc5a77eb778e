/** `timedatectl show` (name=value) and both generations of the text of `timedatectl`. */
import { type Fact, firstKnown, fromValue } from "../../base/fact.ts";
import { asBoolean } from "../json.ts";
import { assignments, labels, type Output } from "../output.ts";

export interface TimedatectlFacts {
  readonly timeZone: Fact<string>;
  readonly rtcLocal: Fact<boolean>;
  /** What the kernel's flag says; a dead daemon may leave it on. */
  readonly synchronized: Fact<boolean>;
  /** Whether a service known to systemd is switched on. */
  readonly ntpService: Fact<boolean>;
}

export function parseTimedatectl(output: Output): TimedatectlFacts {
  const shown = assignments(output);
  const text = labels(output);
  const failed = /failed to|system has not been booted/i.exec(output.text)
    ? "timedatectl cannot reach systemd"
    : "timedatectl does not print it";
  const yes = (...names: readonly string[]): Fact<boolean> =>
    firstKnown(
      ...names.map((name) => {
        const value = shown.get(name) ?? text.get(name);
        return fromValue(value === "active" ? true : value === "inactive" ? false : asBoolean(value), failed);
      }),
    );
  const zone =
    shown.get("Timezone") ?? /^(\S+) \(/.exec(text.get("Time zone") ?? text.get("Timezone") ?? "")?.[1];
  return {
    timeZone: fromValue(zone && zone !== "n/a" ? zone : undefined, failed),
    rtcLocal: yes("LocalRTC", "RTC in local TZ"),
    synchronized: yes("NTPSynchronized", "System clock synchronized", "NTP synchronized"),
    ntpService: yes(
      "NTP",
      "NTP service",
      "NTP enabled",
      "Network time on",
      "systemd-timesyncd.service active",
    ),
  };
}
