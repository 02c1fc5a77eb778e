/**
 * keepalived: an address that follows a healthy scheduler. Two hosts may hold
 * it at once, since two hosts are no quorum; the lease in the record store, not
 * this address, says who plans.
 */
import { type Fact, isKnown, known, seenOf, unknown } from "../../../base/fact.ts";
import type { Provenance, Resource } from "../../resource.ts";
import { computed, fromSetting, type HostContext, type Sourced } from "../host-context.ts";
import { file, linesFile, packageOf, systemGroup, systemUser, unit } from "../make-resource.ts";
import type { Section } from "../resolved-profile.ts";
import type { Feature } from "./feature.ts";
import {
  checkScript,
  checkText,
  type KeepalivedParts,
  keepalivedLines,
  scriptUser,
} from "./keepalived-text.ts";

const configuration = "/etc/keepalived/keepalived.conf";

/**
 * Version 2.2.7 ends its own test with SIGTERM as soon as it looks at a script
 * as a user other than root, and the script is not in place yet when the copy
 * is judged. So both are replaced in the copy; everything else is judged as is.
 */
const validator = {
  name: "keepalived -t",
  argv: [
    "sh",
    "-c",
    'sed -e "s/script_user .*/script_user root/" -e "s,script \\"[^\\"]*\\",script \\"/bin/true\\"," "$1" >"$1.judged" && keepalived -t -f "$1.judged"',
    "sh",
    "{file}",
  ],
} as const;

/** @param readyPort where the local scheduler says whether it is ready */
export function virtualIpFor(readyPort: number | undefined): Feature<"virtualIp"> {
  return (section, context) => {
    const { parts, provenance } = partsOf(section, context);
    const { check } = section.value;
    const restart = [{ unit: "keepalived.service", action: "reload" }] as const;
    const resources: Resource[] = [
      packageOf("keepalived", { risk: "medium" }),
      systemGroup(scriptUser),
      systemUser(scriptUser),
      file(checkScript, {
        mode: 0o755,
        content: checkText(readyPort ?? 0, check.timeout),
        provenance: [
          computed(
            "virtualIp.check",
            `http://127.0.0.1:${readyPort}/readyz`,
            "the scheduler of this host; a healthy standby is ready too",
          ),
        ],
      }),
      linesFile(configuration, {
        lines: isKnown(parts) ? keepalivedLines(section, parts.known) : [],
        mode: 0o640,
        risk: "high",
        after: ["package:keepalived", `user:${scriptUser}`, `file:${checkScript}`],
        restarts: restart,
        validator,
        unavailable: isKnown(parts) ? undefined : parts.unknown,
        provenance,
      }),
      unit("keepalived.service", { risk: "high", after: [`file:${configuration}`] }),
    ];
    return resources;
  };
}

function partsOf(
  section: Section<"virtualIp">,
  context: HostContext,
): { readonly parts: Fact<KeepalivedParts>; readonly provenance: readonly Provenance[] } {
  const { highestPriority, priorityStep } = section.value;
  const pair = context.hostsWith("virtualIp");
  const order = pair.findIndex(({ name }) => name === context.host.name);
  const priority = highestPriority - order * priorityStep;
  const address = context.text("virtualIp");
  const routerId = context.setting("virtualRouterId");
  const id = Number(routerId ? routerId.value : /\.(\d+)(?:\/\d+)?$/.exec(address?.value ?? "")?.[1]);
  const device = interfaceOf(context);
  const own = context.addressOf(context.host);
  const peers = context.addressesOf(pair.filter((_, i) => i !== order));
  const provenance: Provenance[] = [
    computed(
      "virtualIp.priority",
      priority,
      `${highestPriority} − ${order} × ${priorityStep}: host ${order + 1} of ${pair.length} in the inventory`,
    ),
    computed(
      "virtualIp.peers",
      isKnown(peers) ? peers.known.join(", ") : "unknown",
      "the other hosts of the inventory with this section",
    ),
    ...(address ? [fromSetting("virtualIp.address", address)] : []),
    routerId
      ? fromSetting("virtualIp.routerId", routerId)
      : computed(
          "virtualIp.routerId",
          id,
          "the last number of the address, which no other address of the network has",
        ),
    ...(isKnown(device) ? [{ key: "virtualIp.interface", ...device.known }] : []),
    ...writtenOf(section),
  ];
  if (!address || !/^[0-9a-fA-F.:]+(?:\/\d{1,3})?$/.test(address.value))
    return {
      parts: unknown("the setting virtualIp must be an address, such as 10.0.0.100 or 10.0.0.100/24"),
      provenance,
    };
  if (!Number.isInteger(id) || id < 1 || id > 255)
    return {
      parts: unknown(
        "the setting virtualRouterId must be a number from 1 to 255 that no other pair in the network has",
      ),
      provenance,
    };
  if (!isKnown(device)) return { parts: device, provenance };
  if (!isKnown(own)) return { parts: own, provenance };
  if (!isKnown(peers)) return { parts: peers, provenance };
  if (peers.known.length === 0)
    return {
      parts: unknown(
        "no other host of the inventory has a virtualIp section: there is nobody to share the address with",
      ),
      provenance,
    };
  if (priority < 1)
    return {
      parts: unknown(`priority ${priority} is below 1: too many hosts share the address`),
      provenance,
    };
  return {
    parts: known({
      address: address.value,
      routerId: id,
      interface: device.known.value,
      own: own.known,
      peers: peers.known,
      priority,
    }),
    provenance,
  };
}

/** The one bond, else the one card with a cable, a real one before bridges and the like. More than one is a choice that the inventory makes. */
function interfaceOf(context: HostContext): Fact<Sourced<string>> {
  const set = context.text("vrrpInterface");
  if (set) return known(set);
  const otherwise = "the setting vrrpInterface can say it";
  const { bonds, nics } = context.facts;
  const bonded = seenOf(bonds);
  if (bonded.length === 1 && "known" in bonds) return known({ value: bonded[0]!.name, from: "facts" });
  if (!("known" in nics))
    return unknown(`which network card carries the address is unknown (${nics.unknown}); ${otherwise}`);
  const cabled = nics.known.filter(
    ({ name, hasCarrier }) => name !== "lo" && isKnown(hasCarrier) && hasCarrier.known,
  );
  const physical = cabled.filter(({ isPhysical }) => isKnown(isPhysical) && isPhysical.known);
  const live = physical.length > 0 ? physical : cabled;
  const [only, second] = live;
  if (only && !second) return known({ value: only.name, from: "facts" });
  return unknown(
    `${live.length === 0 ? "no network card" : live.map(({ name }) => name).join(", ")} has a carrier; ${otherwise}`,
  );
}

function writtenOf(section: Section<"virtualIp">): readonly Provenance[] {
  const { advertEvery, preempt, check, garp, delayAfterBoot } = section.value;
  const seconds = (ms: number) => `${ms / 1_000}s`;
  return [
    section.written("advertEvery", seconds(advertEvery)),
    section.written("preempt", preempt),
    section.written("check.every", seconds(check.every)),
    section.written("check.timeout", seconds(check.timeout)),
    section.written("check.fall", check.fall),
    section.written("check.rise", check.rise),
    section.written("check.weight", check.weight),
    section.written("delayAfterBoot", seconds(delayAfterBoot)),
    section.written("garp.masterRefresh", seconds(garp.masterRefresh)),
    section.written("garp.masterRepeat", garp.masterRepeat),
  ];
}
