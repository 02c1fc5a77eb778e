/** Reads the frame that the gather script writes; see gather-script.ts for its form. */
import type { Output } from "../output.ts";

export interface Section {
  readonly name: string;
  readonly text: string;
  /** "0" where the command was content. */
  readonly status: string;
  /** The beginning of standard error, on one line. */
  readonly complaint: string;
  /** Closed, and as many bytes as the host counted. */
  readonly isWhole: boolean;
}

export interface Frame {
  readonly uid: number | undefined;
  readonly sections: ReadonlyMap<string, Section>;
  /** Why the reply cannot be taken as complete; undefined: it is complete. */
  readonly problem: string | undefined;
}

/** Everything outside the frame, such as a login banner, is passed over. */
export function readFrame(reply: string, nonce: string): Frame {
  const lines = reply.split("\n");
  const sections = new Map<string, Section>();
  let uid: number | undefined;
  let hasBegun = false;
  let problem: string | undefined = "the reply has no last line: it was cut short";
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!.replace(/\r$/, "");
    // A banner without a line end may stand before the nonce.
    const at = line.indexOf(`${nonce} `);
    if (at < 0) continue;
    const [word = "", ...rest] = line.slice(at + nonce.length + 1).split(" ");
    if (word === "begin") {
      hasBegun = true;
      if (rest[0] !== "1") return { uid, sections, problem: `the frame has version ${rest[0]}, not 1` };
      uid = /^\d+$/.test(rest[1] ?? "") ? Number(rest[1]) : undefined;
    } else if (word === "failed") return { uid, sections, problem: rest.join(" ") };
    else if (word === "section" && hasBegun && rest.length >= 3) {
      const [name = "", status = "", bytes = "", ...complaint] = rest;
      const end = lines.indexOf(`${nonce} close ${name}`, i + 1);
      // The host adds one line end before the closing line, so that it begins a line.
      const text = lines.slice(i + 1, end < 0 ? undefined : end).join("\n");
      const isWhole = end >= 0 && /^\d+$/.test(bytes) && text.length === Number(bytes);
      sections.set(name, { name, text, status, complaint: complaint.join(" ").trim(), isWhole });
      i = end < 0 ? lines.length : end;
    } else if (word === "end" && i < lines.length - 1) {
      const said = Number(rest[0]);
      problem =
        said === sections.size ? undefined : `the host sent ${said} sections, ${sections.size} arrived`;
    }
  }
  if (!hasBegun) problem = "the reply holds no frame: nothing of the script's output arrived";
  return { uid, sections, problem };
}

/** A section as output to parse, or the reason why there is none. */
export function outputOf(frame: Frame, name: string, program = name.split(":")[0]!): Output | string {
  const section = frame.sections.get(name);
  if (!section) return frame.problem ?? `${program}: not run`;
  if (section.status === "missing") return `${program}: not installed`;
  if (section.status === "untimed") return `${program}: not run, because timeout is not installed`;
  if (section.status === "124" || section.status === "137") return `${program}: took too long`;
  if (!section.isWhole) return `${program}: its output was cut short`;
  if (section.text.trim() === "" && section.status !== "0") {
    const complaint = section.complaint.slice(0, 120);
    if (
      frame.uid !== 0 &&
      /permission denied|must be root|root privileges|not permitted|can't read memory/i.test(complaint)
    )
      return `${program}: needs root`;
    return `${program}: ${complaint || `exit code ${section.status}`}`;
  }
  return { text: section.text, isWhole: true };
}
