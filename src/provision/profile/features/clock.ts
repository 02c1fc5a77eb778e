/** chronyd: several sources that must agree, slewing, and a step at most at boot before the scheduler starts. */
import { formatDuration } from "../../../base/duration.ts";
import type { Resource, Restart } from "../../resource.ts";
import type { HostContext } from "../host-context.ts";
import { computed, fromSetting } from "../host-context.ts";
import { file, fileHead, linesFile, packageOf, unit } from "../make-resource.ts";
import type { Section } from "../resolved-profile.ts";
import type { Feature } from "./feature.ts";

const configuration = "/etc/chrony/chrony.conf";
/** chronyd's own word for each way. `system` lets the kernel step. */
const leapModes = { slew: "slew", step: "step", ignore: "ignore" } as const;

/** A restart may step the clock: never under the scheduler that leads. Other hosts have nobody to ask. */
function restartOf(context: HostContext): readonly Restart[] {
  const guarded = context.roles.has("scheduler");
  return [{ unit: "chrony.service", action: "restart", ...(guarded && { unless: "active-scheduler" }) }];
}

export const clock: Feature<"clock"> = (section, context) => {
  const sources = context.list("timeSources");
  const { leastSources } = section.value;
  if (sources && sources.value.length < leastSources) {
    context.note(
      "error",
      `timeSources names ${sources.value.length} time source(s), the profile wants at least ${leastSources}: of two that differ nobody can say which is wrong`,
      context.host.settingPlace("timeSources"),
    );
  }
  const odd = sources?.value.find((one) => !/^[\w.:-]+$/.test(one) || one.startsWith("-"));
  if (odd !== undefined) {
    context.note(
      "error",
      `timeSources has ${JSON.stringify(odd)} in it, which is neither a host name nor an address`,
      context.host.settingPlace("timeSources"),
    );
  }
  return [
    // Two daemons would pull the clock in two directions.
    unit("systemd-timesyncd.service", { enabled: "masked", running: false, risk: "medium" }),
    packageOf("chrony", { risk: "medium", after: ["unit:systemd-timesyncd.service"] }),
    linesFile(configuration, {
      lines: chronyLines(section, sources?.value ?? []),
      risk: "medium",
      after: ["package:chrony"],
      restarts: restartOf(context),
      validator: { name: "chronyd -p", argv: ["chronyd", "-p", "-f", "{file}"] },
      unavailable: sources
        ? undefined
        : "the inventory does not say where the time comes from; the setting timeSources can say it",
      provenance: [...(sources ? [fromSetting("clock.sources", sources)] : []), ...provenanceOf(section)],
    }),
    ...inContainer(context),
    unit("chrony.service", { risk: "medium", after: [`file:${configuration}`] }),
    ...waiting(section, context),
  ];
};

function chronyLines({ value }: Section<"clock">, sources: readonly string[]): readonly string[] {
  const seconds = (ms: number) => String(ms / 1_000);
  return [
    ...sources.map((source) => `server ${source} iburst`),
    `minsources ${value.minSources}`,
    `maxslewrate ${value.maxSlewRatePpm}`,
    ...(value.makeStep.updates > 0
      ? [
          "# At a start only; the scheduler waits for it.",
          `makestep ${seconds(value.makeStep.threshold)} ${value.makeStep.updates}`,
        ]
      : []),
    `leapsecmode ${leapModes[value.leapSeconds]}`,
    `maxdistance ${seconds(value.maxDistance)}`,
    // Refused as often as it is tried: a person has to look.
    `maxchange ${seconds(value.maxChange.offset)} ${value.maxChange.afterUpdates} -1`,
    `logchange ${seconds(value.logChange)}`,
    ...(value.syncHardwareClock ? ["rtcsync"] : []),
    ...(value.lockMemory ? ["lock_all"] : []),
    "driftfile /var/lib/chrony/chrony.drift",
    "ntsdumpdir /var/lib/chrony",
    "keyfile /etc/chrony/chrony.keys",
    "logdir /var/log/chrony",
    "# Nobody is served, and nobody but this host may ask.",
    "port 0",
  ];
}

function provenanceOf(section: Section<"clock">) {
  const { value } = section;
  return [
    section.written("minSources", value.minSources),
    section.written("leastSources", value.leastSources),
    section.written("maxSlewRatePpm", value.maxSlewRatePpm),
    section.written("makeStep.threshold", formatDuration(value.makeStep.threshold)),
    section.written("makeStep.updates", value.makeStep.updates),
    section.written("leapSeconds", value.leapSeconds),
    section.written("maxDistance", formatDuration(value.maxDistance)),
    section.written("maxChange.offset", formatDuration(value.maxChange.offset)),
    section.written("maxChange.afterUpdates", value.maxChange.afterUpdates),
    section.written("logChange", formatDuration(value.logChange)),
    section.written("lockMemory", value.lockMemory),
    section.written("syncHardwareClock", value.syncHardwareClock),
    section.written("waitAtBoot", value.waitAtBoot),
  ];
}

/** A container may not set the clock: chronyd watches it, and says what it would do. */
function inContainer(context: HostContext): readonly Resource[] {
  const { container } = context;
  const path = "/etc/systemd/system/chrony.service.d/escapement.conf";
  if (container === undefined) return [];
  return [
    file(path, {
      content: [
        fileHead,
        "[Unit]",
        "# Without the right to set the clock the unit would not start.",
        "ConditionCapability=",
        "[Service]",
        'Environment="DAEMON_OPTS=-x"',
        "EnvironmentFile=",
        "",
      ].join("\n"),
      risk: "medium",
      after: ["package:chrony"],
      restarts: restartOf(context),
      provenance: [
        computed("clock.control", "watch only (-x)", `container: ${container} may not set the clock`),
      ],
    }),
  ];
}

/** Services that need the right time wait for as long as it takes, rather than failing after three minutes. */
function waiting(section: Section<"clock">, context: HostContext): readonly Resource[] {
  if (!section.value.waitAtBoot || context.container !== undefined) return [];
  const path = "/etc/systemd/system/chrony-wait.service.d/escapement.conf";
  return [
    file(path, {
      content: [fileHead, "[Service]", "TimeoutStartSec=infinity", ""].join("\n"),
      after: ["package:chrony"],
      provenance: [section.written("waitAtBoot", true)],
    }),
    unit("chrony-wait.service", { after: [`file:${path}`, "unit:chrony.service"] }),
  ];
}
