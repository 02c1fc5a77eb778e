/** One entry of a profile's `resources`: what a host shall have beyond the sections. */
import { z } from "zod";
import { choice, command, expectation, text } from "./scalar-schema.ts";

/**
 * Printable ASCII without a backslash: what stat and sha256sum print as it is. No part may be
 * empty, "." or "..", so that one file has one name.
 */
const path = (description: string) =>
  z
    .string()
    .regex(/^\/$|^(?:\/(?!\.{1,2}(?:\/|$))[ -.0-[\]-~]+)+$/)
    .register(expectation, {
      what: "an absolute path in plain ASCII, without control characters, backslashes, //, . or .. in it and / at its end",
    })
    .describe(description);

const word = (description: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9_][\w.@:+~-]*$/)
    .register(expectation, { what: "a word of letters, digits and . _ @ : + ~ -" })
    .describe(description);

/** Permission bits as people write them: "0644". Output: a number. */
const mode = z
  .string()
  .regex(/^0?[0-7]{3,4}$/)
  .register(expectation, { what: 'permission bits in quotes, such as "0644"' })
  .transform((bits) => Number.parseInt(bits, 8))
  .describe("Permission bits, in quotes.");

const oneLine = (description: string) =>
  z
    .string()
    .min(1)
    .regex(/^\P{Cc}*$/u)
    .register(expectation, { what: "text on one line, without control characters" })
    .describe(description);

/** apt-get takes off what it is asked to install under a name that ends in a dash. */
const packageName = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9.+-]*[a-z0-9.+])?$/)
  .register(expectation, { what: "the name of a Debian package: a-z, 0-9 and . + -, no dash at its end" })
  .describe("The Debian package.");

/** A shell reads it from /etc/default/grub.d, and the boot loader after that. */
const kernelWord = z
  .string()
  .regex(/^[\w.,:=/@%+~-]+$/)
  .register(expectation, { what: "one word of letters, digits and . , : = / @ % + ~ - _" })
  .describe("Its value.");

const zoneName = z
  .string()
  .regex(/^[A-Za-z][\w+-]*(?:\/[A-Za-z][\w+-]*)*$/)
  .register(expectation, { what: "the name of a time zone, such as Etc/UTC" })
  .describe("The zone.");

const yesNo = (description: string) =>
  z.boolean().register(expectation, { what: "true or false" }).describe(description);

const common = {
  risk: choice(["low", "medium", "high"], "How bad a mistake can be.").default("low"),
  restarts: z
    .array(
      z.strictObject({
        unit: word("The unit."),
        action: choice(["restart", "reload", "try-restart"], "What is done to it."),
      }),
    )
    .describe("What must happen after a change.")
    .default([]),
  after: z.array(text("The id of a resource.")).describe("What must be right before.").default([]),
};
const owner = word("The owner.").default("root");
const group = word("The group.").default("root");

const file = z
  .strictObject({
    kind: z.literal("file"),
    path: path("Where it is."),
    content: z.string().describe("Its whole text.").optional(),
    absent: yesNo("True: the file must not exist.").optional(),
    owner,
    group,
    mode: mode.prefault("0644"),
    validate: command("Judges a staged copy, written {file}; any exit but 0 refuses it.").optional(),
    ...common,
  })
  .superRefine(({ content, absent, validate = [] }, context) => {
    const odd = validate.findIndex((word) => /\p{Cc}/u.test(word));
    if (odd >= 0)
      context.addIssue({
        code: "custom",
        path: ["validate", odd],
        message: "has a control character in it; put a program of more than one line into a file",
      });
    const tell = (message: string) => context.addIssue({ code: "custom", path: ["content"], message });
    // Else a forgotten line would empty the file.
    if (content === undefined && absent !== true) tell('is missing; an empty file is content: ""');
    if (content !== undefined && absent === true) tell("is the text of a file that must not exist");
  });

export const hostResourceSchema = z.discriminatedUnion("kind", [
  file,
  z.strictObject({
    kind: z.literal("directory"),
    path: path("Where it is."),
    owner,
    group,
    mode: mode.prefault("0755"),
    ...common,
  }),
  z.strictObject({
    kind: z.literal("package"),
    name: packageName,
    state: choice(["installed", "absent"], "Whether it shall be there.").default("installed"),
    version: word("This exact version.").optional(),
    ...common,
  }),
  z.strictObject({
    kind: z.literal("group"),
    name: word("The group."),
    system: yesNo("A system group.").default(true),
    ...common,
  }),
  z.strictObject({
    kind: z.literal("user"),
    name: word("The user."),
    system: yesNo("A system user.").default(true),
    group: word("Its main group."),
    groups: z.array(word("A group.")).describe("More groups.").default([]),
    home: path("Its home.").default("/nonexistent"),
    shell: path("Its shell.").default("/usr/sbin/nologin"),
    ...common,
  }),
  z.strictObject({
    kind: z.literal("sysctl"),
    key: word("The kernel setting, with dots."),
    value: oneLine("Its value, in quotes."),
    ...common,
  }),
  z.strictObject({
    kind: z.literal("unit"),
    name: word("The unit, with its suffix. Timers are units."),
    enabled: yesNo("Started at boot.").or(z.literal("masked")).describe("true, false or masked."),
    running: yesNo("Running now."),
    ...common,
  }),
  z.strictObject({
    kind: z.literal("mount-option"),
    mountPoint: path("The mount point."),
    options: z.array(word("An option.")).min(1).describe("Options it shall have."),
    ...common,
  }),
  z.strictObject({
    kind: z.literal("kernel-parameter"),
    name: word("The parameter."),
    value: kernelWord,
    ...common,
  }),
  z.strictObject({
    kind: z.literal("sshd-option"),
    name: word("The directive."),
    value: oneLine("Its value."),
    ...common,
  }),
  z.strictObject({
    kind: z.literal("nft-table"),
    table: word("The table, in family inet."),
    rules: z.string().min(1).describe("The table's text."),
    ...common,
  }),
  z.strictObject({
    kind: z.literal("time-zone"),
    zone: zoneName,
    ...common,
  }),
]);

export type HostResource = z.output<typeof hostResourceSchema>;
