/** `kind: Watch` as written in a file: what the watchman judges by, where its alerts go, and when they stay quiet. */
import { z } from "zod";
import { apiVersion, metadata } from "./envelope-schema.ts";
import {
  choice,
  duration,
  instant,
  longestTimerMs,
  name,
  text,
  timeZone,
  wholeNumber,
} from "./scalar-schema.ts";
import { channel, heartbeat } from "./watch-channel-schema.ts";
import { match, narrowMatch, severities } from "./watch-match-schema.ts";
import { jobLimits, thresholds } from "./watch-threshold-schema.ts";

const channelNames = (description: string) => z.array(name("The name of a channel.")).describe(description);

const route = z
  .strictObject({
    match: match.default({}),
    channels: channelNames("Told when an alert opens, gets worse or is resolved.").min(1),
    fallback: channelNames("Told as well when one of the channels has failed too often.").default([]),
    escalateAfter: duration("Open and not acknowledged for this long: escalateTo is told.", {
      min: 1_000,
    }).optional(),
    escalateTo: channelNames("Told then.").default([]),
  })
  .superRefine((value, context) => {
    if ((value.escalateAfter === undefined) !== (value.escalateTo.length === 0))
      context.addIssue({
        code: "custom",
        message: "must have escalateAfter and escalateTo together, or neither",
      });
  });

const silence = z.strictObject({
  match: narrowMatch,
  until: instant("It ends by itself at this instant."),
  reason: text("Why."),
  by: text("Who."),
});

/** What lasts longer is no maintenance: the jobs are paused, or the rule is turned off. */
const longestWindowMs = 31 * 86_400_000;

const window = z
  .strictObject({
    match: match.default({}),
    cron: text("When it begins, as a cron expression.").optional(),
    duration: duration("How long it lasts each time.", { min: 1_000, max: 7 * 86_400_000 }).optional(),
    zone: timeZone("The time zone of the cron expression.").optional(),
    from: instant("When it begins, for a single one.").optional(),
    to: instant("When it ends, for a single one.").optional(),
    reason: text("Why."),
  })
  .superRefine((value, context) => {
    const repeated = value.cron !== undefined && value.duration !== undefined && value.zone !== undefined;
    const single = value.from !== undefined && value.to !== undefined;
    const named = [value.cron, value.duration, value.zone, value.from, value.to].filter(
      (one) => one !== undefined,
    ).length;
    if (!((repeated && named === 3) || (single && named === 2)))
      context.addIssue({ code: "custom", message: "must have cron, duration and zone, or from and to" });
    else if (single && value.from! >= value.to!)
      context.addIssue({ code: "custom", path: ["to"], message: "must be after from" });
    else if (single && value.to!.getTime() - value.from!.getTime() > longestWindowMs)
      context.addIssue({ code: "custom", path: ["to"], message: "must be at most 31 days after from" });
  });

const rule = z.strictObject({
  enabled: z.boolean().describe("false: it is not judged.").default(true),
  for: duration("It alerts when it has held this long; not given: when two passes in a row find it.", {
    min: 0,
    max: 7 * 86_400_000,
  }).optional(),
  severity: choice(severities, "In place of the rule's own.").optional(),
});

export const watchSchema = z.strictObject({
  apiVersion,
  kind: z.literal("Watch"),
  metadata,
  spec: z.strictObject({
    description: z.string().describe("For people.").optional(),
    every: duration("Time between two passes.", { min: 1_000, max: 600_000 }).prefault("30s"),
    startUpGrace: duration("After a start from rest, nothing new alerts for this long.", {
      min: 0,
      max: 3_600_000,
    }).prefault("2m"),
    http: z
      .strictObject({
        address: text("The host name or IP to listen on."),
        port: wholeNumber(1, 65_535, "The TCP port to listen on."),
      })
      .describe("Where health and metrics are served.")
      .default({ address: "127.0.0.1", port: 7072 }),
    spoolFile: text("Alerts are kept here while the store is away; relative to this file."),
    thresholds,
    jobs: z.array(jobLimits).describe("Limits of single jobs: the first that fits counts.").default([]),
    rules: z
      .record(text("The name of a rule."), rule)
      .describe("Changes to single rules, by name; docs/watchman.md lists them.")
      .default({}),
    channels: z.array(channel).min(1).describe("Where alerts go."),
    routes: z
      .array(route)
      .min(1)
      .describe("Which alert goes where: the first that fits. The last must fit all."),
    silences: z.array(silence).describe("Alerts that nobody is told of, for a time.").default([]),
    windows: z.array(window).describe("Planned maintenance: nobody is told of what opens in it.").default([]),
    delivery: z
      .strictObject({
        retryFirst: duration("Wait after the first failure; doubled each time.", {
          min: 100,
          max: 600_000,
        }).prefault("5s"),
        retryCap: duration("The longest wait between two tries.", { min: 1_000, max: 3_600_000 }).prefault(
          "5m",
        ),
        fallbackAfter: wholeNumber(1, 100, "Failures after which the fallback is told, too.").default(3),
        keepTrying: duration("Given up after this long.", { min: 60_000, max: 30 * 86_400_000 }).prefault(
          "7d",
        ),
        digestAbove: wholeNumber(1, 1_000, "More than this many at once become one message.").default(10),
        digestAfter: duration("Messages that have waited this long go out as one.", {
          min: 10_000,
          max: longestTimerMs,
        }).prefault("15m"),
      })
      .describe("How delivery is retried, and how a storm is held together.")
      .prefault({}),
    heartbeat: heartbeat.optional(),
    testAlert: z
      .strictObject({
        cron: text("When, as a cron expression."),
        zone: timeZone("The time zone of the cron expression."),
        within: duration("How long its delivery may take.", { min: 1_000, max: 86_400_000 }).prefault("15m"),
      })
      .describe("An alert through every channel on a timetable, to know that they still work.")
      .optional(),
  }),
});

export type WatchDocument = z.output<typeof watchSchema>;
export type MatchDocument = z.output<typeof match>;
