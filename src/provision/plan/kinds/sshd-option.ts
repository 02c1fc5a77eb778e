/** One directive of sshd in a drop-in of ours, judged by what sshd itself says is in effect. */
import type { Probe } from "../../bundle/probe.ts";
import { isUnknown } from "../../bundle/reading.ts";
import type { SshdOptionResource } from "../../resource.ts";
import { cannotTell, type JudgeContext, type Judged } from "../judged.ts";
import { compareFile, fileProbe, rootFile, type WantedFile } from "./placed-file.ts";
import { fromVerdict } from "./plain.ts";

/** The first value sshd reads wins, and drop-ins are read in the order of their names. */
function dropIn({ name, value }: SshdOptionResource): WantedFile {
  return rootFile(`/etc/ssh/sshd_config.d/00-escapement-${name.toLowerCase()}.conf`, `${name} ${value}\n`);
}

export function sshdProbes(wanted: SshdOptionResource): Probe[] {
  return [fileProbe(dropIn(wanted)), { kind: "sshd", name: wanted.name }];
}

export function judgeSshdOption(wanted: SshdOptionResource, context: JudgeContext): Judged {
  const file = fromVerdict(compareFile(dropIn(wanted), context.reading));
  if (file.state === "unknown") return file;
  const effective = context.reading.sshd(wanted.name);
  if (isUnknown(effective)) {
    const installing = context.installing(wanted);
    if (installing === undefined) return cannotTell(effective);
    return {
      ...file,
      notPreviewable: `sshd comes with package ${installing}`,
      steps: [...file.steps, check(wanted)],
    };
  }
  if (file.state !== "ok")
    return {
      ...file,
      lines: [...file.lines, `${effective.join(" ") || "not set"} → ${wanted.value}`],
      steps: [...file.steps, check(wanted)],
    };
  if (plain(effective.join(" ")) === plain(wanted.value)) return file;
  return cannotTell(
    `sshd says ${effective.join(" ") || "nothing"}, although ${dropIn(wanted).path} says ${wanted.value}: another line stands before it`,
  );
}

function check({ name }: SshdOptionResource) {
  return { do: "check", name: `sshd -t, for ${name}`, argv: ["sshd", "-t"] } as const;
}

/** As sshd prints it: case and blanks aside, and the old name of one value. */
function plain(value: string): string {
  return value.toLowerCase().trim().replace(/\s+/g, " ").replace("prohibit-password", "without-password");
}
