/** `kind: Inventory` as written in a file: which hosts there are, how each is reached, and the site's own values. */
import { z } from "zod";
import { apiVersion, metadata } from "./envelope-schema.ts";
import { hostPattern, userPattern } from "./host-address.ts";
import { choice, duration, expectation, name, text, wholeNumber } from "./scalar-schema.ts";

/** A name of the site's values: one word, as profiles write it. */
const settingName = z.string().regex(/^[a-zA-Z][a-zA-Z0-9]{0,62}$/, {
  error: "must be one word of letters and digits that begins with a letter, such as virtualIp",
});

/** Settings become lines of configuration files: a line feed in one would be a line of its own. */
const plainValue = z.union([z.string().regex(/^\P{Cc}*$/u), z.number(), z.boolean()]);

const settingValue = z
  .custom<string | number | boolean | (string | number | boolean)[]>(
    (value) => plainValue.safeParse(value).success || z.array(plainValue).safeParse(value).success,
  )
  .register(expectation, { what: "text on one line, a number, true or false, or a list of these" })
  .meta({
    anyOf: [
      { type: ["string", "number", "boolean"] },
      { type: "array", items: { type: ["string", "number", "boolean"] } },
    ],
  });

const settings = (description: string) =>
  z.record(settingName, settingValue).describe(description).default({});

const identityFile = text("The private key to log in with, relative to this file; ~ is the home folder.");
const sudoPasswordFile = text(
  "A file with the sudo password, readable by its owner only, relative to this file. Without it sudo must not ask.",
);
const user = text(
  "The user to log in as; without it, what the ssh configuration says, else your own name.",
).regex(userPattern, { error: "must be the name of a user, without spaces and a dash in front" });
const port = wholeNumber(
  1,
  65_535,
  "The port of its ssh server; without it, what the ssh configuration says, else 22.",
);

const host = z.strictObject({
  name: name("The name by which everything calls this host."),
  address: text("Host name or IP address to connect to.").regex(hostPattern, {
    error: "must be a host name or an IP address, without brackets, spaces and port",
  }),
  port: port.optional(),
  user: user.optional(),
  profile: name("The HostProfile it gets; without one it is only a way to other hosts.").optional(),
  failureDomain: name(
    "Hosts of one domain can be lost together (a rack, a power feed), so only one domain is changed at a time; without it the host's own name.",
  ).optional(),
  jump: z
    .array(text("A host of this inventory, or user@address:port."))
    .describe("The hosts to go through, the nearest to you first.")
    .optional(),
  connection: choice(
    ["ssh", "local"],
    "How it is reached; local is the machine the command runs on.",
  ).default("ssh"),
  identityFile: identityFile.optional(),
  sudoPasswordFile: sudoPasswordFile.optional(),
  settings: settings("Values of this host alone; each stands in place of the one of the inventory."),
});

export const inventorySchema = z.strictObject({
  apiVersion,
  kind: z.literal("Inventory"),
  metadata,
  spec: z.strictObject({
    cluster: name("The Cluster these hosts belong to.").optional(),
    defaults: z
      .strictObject({
        user: user.optional(),
        port: port.optional(),
        identityFile: identityFile.optional(),
        knownHostsFile: text(
          "The file with the keys of the hosts, relative to this file; without it those of the ssh configuration.",
        ).optional(),
        sudoPasswordFile: sudoPasswordFile.optional(),
        connectTimeout: duration("How long a connection may take, login included.", {
          min: 100,
          max: 600_000,
        }).prefault("20s"),
      })
      .describe("How hosts are reached that say nothing themselves.")
      .prefault({}),
    settings: settings(
      "The site's values, which profiles use by name. A relative path in a value whose name ends in File is taken from the folder of this file.",
    ),
    hosts: z.array(host).min(1).describe("Every host."),
  }),
});

export type InventoryDocument = z.output<typeof inventorySchema>;
