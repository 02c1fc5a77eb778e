/**
 * `kind: HostProfile` as written in a file: what a host of one role has, and
 * how much. Every field of a section may be left out and come from an included
 * profile; the compiler says which ones are missing after that.
 */
import { z } from "zod";
import { apiVersion, metadata } from "./envelope-schema.ts";
import { drills } from "./host-drill-schema.ts";
import { hostResourceSchema } from "./host-resource-schema.ts";
import { recordStore } from "./host-store-schema.ts";
import { choice, duration, expectation, name, size, text, wholeNumber } from "./scalar-schema.ts";
import { numberBetween } from "./workload-schema.ts";

const yesNo = (description: string) =>
  z.boolean().register(expectation, { what: "true or false" }).describe(description);
const port = (description: string) => wholeNumber(1, 65_535, description);
const oomScore = wholeNumber(-1_000, 1_000, "Lower is killed later when memory runs out.");

const clock = z.strictObject({
  minSources: wholeNumber(1, 10, "Sources that must agree before the clock follows them."),
  leastSources: wholeNumber(1, 20, "Sources the inventory must name (setting timeSources)."),
  maxSlewRatePpm: wholeNumber(1, 100_000, "The fastest the clock is slewed, millionths."),
  makeStep: z
    .strictObject({
      threshold: duration("Only an error larger than this is stepped."),
      updates: z
        .int()
        .min(-1)
        .max(20)
        .register(expectation, { what: "a whole number from 0 to 20; 0 never steps" })
        .describe("Only among so many first measurements after a start; 0: never."),
    })
    .partial()
    .describe("When the clock may jump: at boot only, before the scheduler starts."),
  leapSeconds: choice(["slew", "step", "ignore"], "How a leap second is taken in; the same on every host."),
  maxDistance: duration("A source whose root distance is larger is not used."),
  maxChange: z
    .strictObject({
      offset: duration("A correction larger than this is refused."),
      afterUpdates: wholeNumber(0, 100, "Not judged during so many first measurements."),
    })
    .partial()
    .describe("Guard against a source that is badly wrong."),
  logChange: duration("Corrections larger than this are logged."),
  lockMemory: yesNo("Keep the daemon in memory."),
  waitAtBoot: yesNo("Services of this host wait for a synchronised clock before they start."),
  syncHardwareClock: yesNo("Copy the time to the hardware clock regularly."),
});

const timeZone = z.strictObject({
  zone: choice(["Etc/UTC", "UTC"], "The zone of the host. Jobs have their own."),
  hardwareClock: choice(["utc"], "The hardware clock runs in UTC."),
});

/** It becomes part of a rule as it is. */
const network = z
  .string()
  .regex(/^[0-9A-Fa-f.:]+(?:\/\d{1,3})?$/)
  .register(expectation, { what: "an IP address or a network, such as 10.0.9.0/24" })
  .describe("An address or network.");

const firewall = z.strictObject({
  incoming: choice(["drop", "accept"], "What happens to packets no rule names."),
  services: z
    .array(
      choice(
        ["scheduler-http", "executor-http", "watchman-http", "drill-witness", "vrrp", "postgresql"],
        "A service of this host; ports and peers come from the inventory.",
      ),
    )
    .describe("What may be reached from the other hosts of the cluster."),
  open: z
    .array(
      z.strictObject({
        port: port("The port."),
        protocol: choice(["tcp", "udp"], "The protocol."),
        from: z.array(network).min(1).describe("Who may reach it."),
        why: text("For people; becomes the rule's comment."),
      }),
    )
    .describe("More openings."),
});

const virtualIp = z.strictObject({
  advertEvery: duration("How often the holder says that it is there.", { min: 300, max: 40_000 }),
  highestPriority: wholeNumber(2, 254, "Of the first host; each further host has less."),
  priorityStep: wholeNumber(0, 253, "How much less."),
  check: z
    .strictObject({
      every: duration("How often the local scheduler is asked.", { min: 1_000, max: 60_000 }),
      timeout: duration("No answer within this is a failure.", { min: 1_000, max: 60_000 }),
      fall: wholeNumber(1, 20, "Failures until the address is given up."),
      rise: wholeNumber(1, 20, "Successes until it may be taken."),
      weight: wholeNumber(-253, 253, "0: a failure gives the address up; else it changes the priority."),
    })
    .partial()
    .describe("The address follows the health of the local scheduler."),
  preempt: yesNo("A host with more priority takes the address back from a healthy one."),
  delayAfterBoot: duration("Nothing is taken so soon after a boot.", { min: 1_000, max: 600_000 }),
  garp: z
    .strictObject({
      masterDelay: duration("The second announcement after a takeover.", { min: 1_000, max: 60_000 }),
      masterRepeat: wholeNumber(1, 20, "Announcements in one go."),
      masterRefresh: duration("Announced again this often.", { min: 1_000, max: 3_600_000 }),
      lowerPriorityRepeat: wholeNumber(0, 20, "Announcements after a lower one was heard."),
    })
    .partial()
    .describe("Gratuitous ARP, which ends stale entries of neighbours."),
});

const kernel = z.strictObject({
  swappiness: wholeNumber(0, 200, "vm.swappiness."),
  dirtyBackground: size("Dirty pages from which the kernel writes in the background."),
  dirty: size("Dirty pages from which writers wait."),
  zoneReclaim: wholeNumber(0, 7, "vm.zone_reclaim_mode."),
  numaBalancing: wholeNumber(0, 1, "kernel.numa_balancing, on hosts with more than one NUMA node."),
  overcommit: wholeNumber(0, 2, "vm.overcommit_memory."),
  overcommitRatio: wholeNumber(1, 100, "vm.overcommit_ratio, for overcommit 2."),
  minFreeShare: numberBetween(0.0005, 0.05, "Part of memory the kernel keeps free."),
  pidMax: wholeNumber(32_768, 4_194_304, "kernel.pid_max."),
  listenBacklog: wholeNumber(128, 65_535, "net.core.somaxconn."),
  keepalive: z
    .strictObject({
      idle: duration("Silence before the first probe.", { min: 1_000, max: 7_200_000 }),
      every: duration("Between two probes.", { min: 1_000, max: 600_000 }),
      probes: wholeNumber(1, 20, "Lost probes until the connection is dead."),
    })
    .partial()
    .describe("TCP keepalive of the host."),
  transparentHugePages: choice(["madvise", "never", "always"], "Huge pages without being asked."),
  ioScheduler: z
    .strictObject({
      flash: choice(["none", "mq-deadline", "kyber", "bfq"], "For NVMe and SSD."),
      spinning: choice(["none", "mq-deadline", "kyber", "bfq"], "For disks that turn."),
    })
    .partial()
    .describe("By medium, through a udev rule."),
  openFiles: wholeNumber(1_024, 1_048_576, "Open files a process may have."),
  processes: wholeNumber(1_024, 4_194_304, "Processes a user may have."),
});

const journal = z.strictObject({
  maxUse: size("The journal's size on disk."),
  keepFree: size("Left free beside it."),
  retention: duration("Older entries are dropped."),
  rateInterval: duration("The window of the rate limit."),
  rateBurst: wholeNumber(1, 10_000_000, "Lines a unit may write in it before lines are dropped."),
});

const jobsSlice = z.strictObject({
  cpuWeight: wholeNumber(1, 10_000, "Against 100 of everything else."),
  ioWeight: wholeNumber(1, 10_000, "Against 100 of everything else."),
  memoryShare: numberBetween(0.05, 0.98, "Part of the memory left by the system that all jobs may have."),
  tasksPerCore: wholeNumber(16, 65_536, "Processes and threads for each physical core."),
  swap: size("Swap all jobs together may use.").or(z.literal(0)).describe("Swap of all jobs; 0: none."),
});

const slotClass = (what: string) =>
  z
    .strictObject({
      share: numberBetween(0, 1, "Part of the host given to this class; the main class has what is left."),
      factor: numberBetween(0.1, 4, "Attempts for each physical core."),
      peakMemory: size("Peak of one attempt; 1.5 times that is set aside."),
    })
    .partial()
    .describe(what);

const executor = z.strictObject({
  mainClass: choice(["cpu", "memory", "io"], "What this host is for."),
  cpu: slotClass("Attempts that compute."),
  memory: slotClass("Attempts that hold much memory."),
  io: slotClass("Attempts that wait for disk or network."),
  httpPort: port("Where health and metrics are served."),
  workDirectory: text("Scratch space of attempts; may be deleted at any instant."),
  stopTimeout: duration("From SIGTERM to SIGKILL of the service; longer than the cluster's grace."),
  oomPolicy: choice(["continue", "stop", "kill"], "What happens to the executor when one job is OOM-killed."),
  oomScore,
});

const daemon = {
  httpPort: port("Where health and metrics are served."),
  memoryMax: size("The most memory it may have."),
  cpuWeight: wholeNumber(1, 10_000, "Against 100 of everything else."),
  tasksMax: wholeNumber(8, 100_000, "Processes and threads it may have."),
  oomScore,
};
const scheduler = z.strictObject(daemon);
const watchman = z.strictObject({
  ...daemon,
  controlSlots: wholeNumber(0, 8, "Drills of the timetable that run from here at once; 0: none."),
});

const jobLogs = z.strictObject({
  directory: text("Where the output of attempts lies."),
  maxFile: size("A file is rotated at this size, and every day."),
  keepFiles: wholeNumber(1, 1_000, "Rotated files of one job that are kept at most."),
  keepDays: wholeNumber(1, 3_650, "Days on the host; then a file is moved to the archive."),
  shipAt: text("When files are moved, as a systemd calendar expression."),
  keepMonths: wholeNumber(1, 240, "Months in the archive."),
});

const toolkit = z.strictObject({
  directory: text("Versions of the toolkit lie below it."),
  configuration: text("Where cluster file, store URL and job users are."),
});

const cluster = z.strictObject({
  lookAhead: duration("How far ahead executions are planned."),
  lease: duration("How long a lease lasts without being renewed."),
  renewEvery: duration("How often it is renewed."),
  stopEarly: duration("How long before its end it is no longer trusted."),
  grace: duration("From SIGTERM to the end of an executor."),
  isolation: choice(
    ["none", "scope"],
    "scope: each attempt in a scope of its own, as the user its job names.",
  ),
  retentionMonths: wholeNumber(1, 120, "Months of records that are kept."),
});

/** Every section by name; each has one feature module that turns it into resources. */
const sectionSchemas = {
  toolkit: toolkit.partial().describe("User and folders of the toolkit.").optional(),
  cluster: cluster.partial().describe("The cluster file of the daemons on this host.").optional(),
  clock: clock.partial().describe("The clock: chronyd that slews.").optional(),
  timeZone: timeZone.partial().describe("UTC, in software and hardware.").optional(),
  firewall: firewall.partial().describe("A table of ours in nftables.").optional(),
  virtualIp: virtualIp.partial().describe("The address that follows a healthy scheduler.").optional(),
  kernel: kernel.partial().describe("Memory, pages, disks and limits.").optional(),
  journal: journal.partial().describe("Bounds of the journal.").optional(),
  jobsSlice: jobsSlice.partial().describe("The slice in which all jobs run.").optional(),
  executor: executor.partial().describe("The executor and its slots.").optional(),
  scheduler: scheduler.partial().describe("The scheduler.").optional(),
  watchman: watchman.partial().describe("The watchman.").optional(),
  recordStore: recordStore.partial().describe("PostgreSQL for the records.").optional(),
  jobLogs: jobLogs.partial().describe("The output of jobs: on the host, then in the archive.").optional(),
  drills: drills.partial().describe("What drills may do to this host.").optional(),
};

export const hostProfileSchema = z.strictObject({
  apiVersion,
  kind: z.literal("HostProfile"),
  metadata,
  spec: z.strictObject({
    description: z.string().describe("For people.").optional(),
    includes: z
      .array(name("The name of a profile."))
      .describe("Profiles whose fields hold where this one says nothing; later ones win.")
      .default([]),
    ...sectionSchemas,
    resources: z.array(hostResourceSchema).describe("Anything else a host shall have.").default([]),
  }),
});

export type HostProfileDocument = z.output<typeof hostProfileSchema>;
export type HostProfile = HostProfileDocument["spec"];

/** Everything a section may say, said. */
type Complete<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]-?: Complete<Exclude<T[K], undefined>> }
    : T;
type Maybe<T, K extends keyof T> = Omit<T, K> & { readonly [P in K]?: T[P] };
type Written = { readonly [K in keyof typeof sectionSchemas]: Complete<NonNullable<HostProfile[K]>> };

/** The sections with all of their fields, as they are after the includes. */
export interface ProfileSections extends Omit<Written, "firewall" | "kernel"> {
  readonly firewall: Maybe<Written["firewall"], "open">;
  readonly kernel: Maybe<Written["kernel"], "overcommitRatio" | "numaBalancing">;
}

export type SectionName = keyof ProfileSections;
export const sectionNames = Object.keys(sectionSchemas) as SectionName[];

/** Fields a section may lack even after the includes. */
const optionalFields: readonly string[] = [
  "firewall.open",
  "kernel.overcommitRatio",
  "kernel.numaBalancing",
  "watchman.controlSlots",
];

/** The fields of a section that must be there after the includes, as dotted paths inside it. */
export function requiredFields(section: SectionName): readonly string[] {
  return fieldsOf(sectionSchemas[section]).filter((field) => !optionalFields.includes(`${section}.${field}`));
}

function fieldsOf(schema: z.ZodType): readonly string[] {
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  if (!(inner instanceof z.ZodObject)) return [];
  return Object.entries(inner.shape as Record<string, z.ZodType>).flatMap(([name, field]) => {
    const below = fieldsOf(field);
    return below.length > 0 ? below.map((one) => `${name}.${one}`) : [name];
  });
}
