/** The channels of a `kind: Watch`: where alerts go. Secrets are named here, never written: they are in a file or in the environment. */
import { z } from "zod";
import {
  choice,
  command,
  duration,
  expectation,
  longestTimerMs,
  name,
  text,
  wholeNumber,
} from "./scalar-schema.ts";

const withSecretElsewhere = "has no user or password in it; put such a URL into urlFile or urlEnv";

/** An http or https URL that holds no secret. */
function plainUrl(description: string) {
  return z
    .string()
    .regex(/^https?:\/\/[^/\s]+/)
    .refine((url) => !/^https?:\/\/[^/]*@/.test(url), { error: `must be a URL that ${withSecretElsewhere}` })
    .register(expectation, { what: "a URL that begins with https:// or http://" })
    .describe(description);
}

const urlShape = {
  url: plainUrl("The URL, where it holds no secret.").optional(),
  urlFile: text("A file that holds the URL, relative to this one.").optional(),
  urlEnv: text("An environment variable that holds the URL.").optional(),
};

const common = {
  name: name("Unique among the channels; routes name it."),
  timeout: duration("How long one delivery may take.", { min: 100, max: 300_000 }).prefault("10s"),
};

type Fields = Readonly<Record<string, unknown>>;

/** Of several ways to say the same, one. The complaint names a field, so that no value of another one, a secret perhaps, is shown. */
function exactlyOne(keys: readonly string[]) {
  const words = `${keys.slice(0, -1).join(", ")} and ${keys.at(-1)}`;
  return (value: Fields, context: z.core.$RefinementCtx<unknown>): void => {
    if (keys.filter((key) => value[key] !== undefined).length === 1) return;
    const path = [keys.find((key) => value[key] === undefined) ?? keys[0]!];
    context.addIssue({ code: "custom", path, message: `is wrong: exactly one of ${words} must be there` });
  };
}

const oneUrl = exactlyOne(["url", "urlFile", "urlEnv"]);

const webhook = z
  .strictObject({
    type: z.literal("webhook"),
    ...common,
    ...urlShape,
    secretFile: text("A file that holds the key of the signature, relative to this one.").optional(),
    secretEnv: text("An environment variable that holds the key of the signature.").optional(),
  })
  .superRefine(oneUrl)
  .superRefine(exactlyOne(["secretFile", "secretEnv"]));

const alertmanager = z
  .strictObject({
    type: z.literal("alertmanager"),
    ...common,
    ...urlShape,
    resendEvery: duration(
      "An open alert is posted again after this long, else Alertmanager would resolve it.",
      {
        min: 1_000,
        max: 3_600_000,
      },
    ).prefault("1m"),
  })
  .superRefine(oneUrl);

const exec = z.strictObject({
  type: z.literal("exec"),
  ...common,
  command: command("Program and arguments; the alert is JSON on its standard input, exit 0 means accepted."),
});

const pagerduty = z
  .strictObject({
    type: z.literal("pagerduty"),
    ...common,
    url: plainUrl("The Events API v2.").default("https://events.pagerduty.com/v2/enqueue"),
    routingKeyFile: text("A file that holds the routing key, relative to this one.").optional(),
    routingKeyEnv: text("An environment variable that holds the routing key.").optional(),
  })
  .superRefine(exactlyOne(["routingKeyFile", "routingKeyEnv"]));

const slack = z
  .strictObject({
    type: z.literal("slack"),
    ...common,
    // The URL of a Slack webhook is its secret.
    urlFile: urlShape.urlFile,
    urlEnv: urlShape.urlEnv,
  })
  .superRefine(exactlyOne(["urlFile", "urlEnv"]));

const address = (description: string) =>
  z
    .string()
    .max(254)
    .regex(/^[^\s@<>,;]+@[^\s@<>,;]+$/)
    .register(expectation, { what: "a mail address such as ops@example.com" })
    .describe(description);

const smtp = z
  .strictObject({
    type: z.literal("smtp"),
    ...common,
    host: text("The mail server."),
    port: wholeNumber(1, 65_535, "Its TCP port."),
    security: choice(
      ["none", "starttls", "tls"],
      "starttls and tls check the server's certificate; none is for a server on this machine.",
    ),
    caFile: text("Certificates that are trusted instead of the system's, relative to this file.").optional(),
    user: text("The login.").optional(),
    passwordFile: text("A file that holds the password, relative to this one.").optional(),
    passwordEnv: text("An environment variable that holds the password.").optional(),
    from: address("The sender."),
    to: z.array(address("A receiver.")).min(1).describe("The receivers."),
  })
  .superRefine((value, context) => {
    const passwords = [value.passwordFile, value.passwordEnv].filter((one) => one !== undefined).length;
    if (passwords !== (value.user === undefined ? 0 : 1))
      context.addIssue({
        code: "custom",
        path: ["passwordFile"],
        message:
          "is wrong: there must be user with exactly one of passwordFile and passwordEnv, or none of the three",
      });
    if (value.user !== undefined && value.security === "none")
      context.addIssue({
        code: "custom",
        path: ["security"],
        message: "must be starttls or tls where a password is sent",
      });
  });

export const channel = z
  .discriminatedUnion("type", [webhook, alertmanager, exec, pagerduty, slack, smtp])
  .describe("Where alerts go.");

export const heartbeat = z
  .strictObject({
    ...urlShape,
    every: duration("How often it is called while passes succeed.", {
      min: 1_000,
      max: longestTimerMs,
    }).prefault("1m"),
    timeout: common.timeout,
  })
  .superRefine(oneUrl)
  .describe("A URL elsewhere that is called while this watchman works, so that its own death is noticed.");

export type ChannelDocument = z.output<typeof channel>;
