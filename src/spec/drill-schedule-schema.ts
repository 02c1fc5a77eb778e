/** `kind: DrillSchedule` as written in a file: which drills run each week, in which hours, and which days are left alone. */
import { z } from "zod";
import { drillClasses } from "./drill-definition.ts";
import { apiVersion, metadata } from "./envelope-schema.ts";
import { choice, command, duration, expectation, instant, name, text, timeZone } from "./scalar-schema.ts";

export const weekdayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;

const hour = 3_600_000;

const timeOfDay = (description: string) =>
  z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
    .register(expectation, { what: 'a local time in quotes, such as "10:00"' })
    .describe(description);

const peakDay = z
  .strictObject({
    date: z.iso
      .date()
      .register(expectation, { what: 'a date in quotes, such as "2026-12-31"' })
      .describe("One day.")
      .optional(),
    dayOfMonth: z
      .int()
      .min(-31)
      .max(31)
      .refine((day) => day !== 0, { error: "must not be 0" })
      .register(expectation, { what: "a day of the month: 1 is the first, -1 the last" })
      .describe("This day of every month; negative ones count from its end.")
      .optional(),
    reason: text("Why it is a peak day."),
  })
  .superRefine((value, context) => {
    if ((value.date === undefined) === (value.dayOfMonth === undefined))
      context.addIssue({ code: "custom", message: "must have exactly one of date and dayOfMonth" });
  });

const freeze = z
  .strictObject({
    from: instant("When it begins."),
    to: instant("When it ends."),
    reason: text("Why."),
  })
  .superRefine((value, context) => {
    if (value.from >= value.to)
      context.addIssue({ code: "custom", path: ["to"], message: "must be after from" });
  });

const absolutePath = (description: string) =>
  text(description).regex(/^\/\S*$/, { error: "must be an absolute path without spaces" });

export const drillScheduleSchema = z.strictObject({
  apiVersion,
  kind: z.literal("DrillSchedule"),
  metadata,
  spec: z.strictObject({
    description: z.string().describe("For people.").optional(),
    timeZone: timeZone("The zone whose clock and calendar the hours and the days follow."),
    officeHours: z
      .strictObject({
        weekdays: z
          .array(choice(weekdayNames, "A day of the week."))
          .min(1)
          .describe("Days on which somebody is there.")
          .default(["mon", "tue", "wed", "thu"]),
        from: timeOfDay("No drill begins before."),
        to: timeOfDay("Every drill is over by then."),
      })
      .superRefine((value, context) => {
        if (value.from >= value.to)
          context.addIssue({ code: "custom", path: ["to"], message: "must be after from" });
      })
      .describe("When people are there to look."),
    seed: text("Any text: day and minute of each drill are drawn from it, and stay the same."),
    peakDays: z.array(peakDay).describe("Days on which the cluster is left alone."),
    awayFromPeak: duration("No drill this close to a peak day.", {
      min: 24 * hour,
      max: 14 * 24 * hour,
    }).prefault("24h"),
    freezes: z.array(freeze).describe("Times without drills.").default([]),
    drills: z
      .array(
        z.strictObject({
          drill: name("The name of a drill."),
          variant: name("One of its variants; without it all of them.").optional(),
          class: choice(drillClasses, "The class that the drill must have."),
        }),
      )
      .min(1)
      .describe("Each runs once a week."),
    controller: z
      .strictObject({
        program: command(
          "How the program is started on the controller; its own arguments are added.",
        ).prefault(["/opt/escapement/current/node", "/opt/escapement/current/escapement.mjs"]),
        inventory: absolutePath("The inventory on the controller."),
        cluster: absolutePath("The cluster file on the controller.").default("/etc/escapement/cluster.yaml"),
        reports: absolutePath("Where reports and histories are kept on the controller.").default(
          "/var/lib/escapement-executor/drills",
        ),
        runAs: name("The user that may reach the hosts; without it the executor's own choice.").optional(),
      })
      .describe("The host that runs drills: an executor with control slots that is never a target."),
    timeout: duration("One drill with all its variants is killed after this; the host puts itself right.", {
      min: 5 * 60_000,
      max: 6 * hour,
    }).prefault("1h"),
  }),
});

export type DrillScheduleDocument = z.output<typeof drillScheduleSchema>;
