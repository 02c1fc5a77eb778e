/**
 * What lets a host take drills: a login that runs one program, the program,
 * the list of what it may do, and who may ask. Nothing of it is there until the
 * inventory says whose drills they are.
 */
import { formatBytes } from "../../../base/bytes.ts";
import { formatDuration } from "../../../base/duration.ts";
import type { Resource } from "../../resource.ts";
import { fromSetting } from "../host-context.ts";
import { directory, file, packageOf, systemGroup, systemUser, unit } from "../make-resource.ts";
import { cleanupUnit, drillFiles, drillHome, drillSettings, drillUser } from "./drill-files.ts";
import type { Feature } from "./feature.ts";
import { paths as ours } from "./paths.ts";

const programFolder = "/usr/local/lib/escapement";

export const drills: Feature<"drills"> = (section, context) => {
  const key = context.text("drillPublicKey");
  if (!key) return [];
  if (!/^ssh-ed25519 AAAA[A-Za-z0-9+/=]{64}( [\w@.-]+)?$/.test(key.value.trim())) {
    context.note(
      "error",
      "drillPublicKey is not a public key such as ssh-ed25519 AAAA…",
      context.host.settingPlace("drillPublicKey"),
    );
    return [];
  }
  const { faults, units, paths, maxHold, maxLimit, maxOffset, reserve, maxLoad } = section.value;
  const labClock = context.text("drillLabClock");
  const seconds = (ms: number) => String(Math.floor(ms / 1_000));
  const files = drillFiles({
    publicKey: key.value,
    paths,
    allowed: [
      `host ${context.host.name}`,
      ...faults.map((one) => `fault ${one}`),
      ...units.map((one) => `unit ${one}`),
      ...paths.map((one) => `path ${one}`),
      `hold ${seconds(maxHold)}`,
      `limit ${seconds(maxLimit)}`,
      `offset ${seconds(maxOffset)}`,
      `reserve ${reserve}`,
      `load ${maxLoad}`,
      ...(labClock ? [`clock-file ${labClock.value}`] : []),
    ],
  });
  const provenance = [
    fromSetting("drills.publicKey", key),
    section.written("faults", faults.join(", ")),
    section.written("units", units.join(", ")),
    section.written("paths", paths.join(", ")),
    section.written("maxHold", formatDuration(maxHold)),
    section.written("maxLimit", formatDuration(maxLimit)),
    section.written("maxOffset", formatDuration(maxOffset)),
    section.written("reserve", formatBytes(reserve)),
    section.written("maxLoad", String(maxLoad)),
  ];
  const folders = [drillHome, `${drillHome}/.ssh`, drillSettings, programFolder];
  const after = [
    ...folders.map((one) => `directory:${one}`),
    "package:sudo",
    "package:nftables",
    `user:${drillUser}`,
  ];
  return [
    packageOf("sudo"),
    packageOf("nftables"),
    systemGroup(drillUser),
    // sshd starts the one command with the user's shell.
    { ...systemUser(drillUser, { home: drillHome }), shell: "/bin/sh" },
    ...folders.map((path) =>
      directory(path, path === drillSettings ? { after: [`directory:${ours.configuration}`] } : {}),
    ),
    ...files.map(
      ({ path, content, mode, validator }): Resource =>
        file(path, {
          content,
          mode,
          risk: "high",
          after,
          ...(validator && { validator }),
          ...(path === `${drillSettings}/allowed` && { provenance }),
        }),
    ),
    unit(cleanupUnit, { running: false, after: [`file:/etc/systemd/system/${cleanupUnit}`] }),
  ];
};
