/** Power supplies, from the management controller, else from the firmware's table. */
import { fail, pass, type Reading, unknown, type Verdict } from "./verdict.ts";

const troubles = /AC lost|input lost|Failure detected|Predictive failure|Config Error|out-of-range/i;

/**
 * @param sdr `ipmitool -c sdr type "Power Supply"`; its third column says ok even for a supply without input.
 * @param smbios `dmidecode -t 39`; most machines list nothing there, which means nothing.
 */
export function judgePowerSupplies(sdr: Reading, smbios: Reading, atLeast: number): Verdict {
  if (sdr.text !== undefined) {
    const rows = sdr.text.split("\n").map((line) => line.split(","));
    const states = rows
      .filter((row) => row.length >= 5)
      .map((row) => ({ name: row[0]!.trim(), reading: row.slice(4).join(",").trim() }));
    const present = states.filter(({ reading }) => /Presence detected/i.test(reading));
    const bad = states.filter(({ reading }) => troubles.test(reading));
    if (bad.length > 0) return fail(bad.map(({ name, reading }) => `${name}: ${reading}`).join("; "));
    if (present.length >= atLeast) return pass(`${present.length} supplies present, none in trouble`);
    if (present.length > 0) return fail(`${present.length} supplies present`);
  }
  if (smbios.text === undefined) return unknown(`${sdr.reason}; ${smbios.reason}`);
  const supplies = smbios.text.split(/\n\s*\n/).filter((block) => block.includes("System Power Supply"));
  const statuses = supplies.map((block) => /^\s*Status:\s*(.+)$/m.exec(block)?.[1]?.trim() ?? "");
  const healthy = statuses.filter((status) => /^Present, OK/i.test(status)).length;
  const ill = statuses.filter((status) => /Critical/i.test(status)).length;
  if (ill > 0) return fail(`the firmware calls ${ill} supply critical`);
  if (healthy >= atLeast) return pass(`the firmware lists ${healthy} supplies as present and ok`);
  const present = statuses.filter((status) => /^Present/i.test(status)).length;
  return unknown(
    `the management controller was not read (${sdr.reason}) and the firmware lists ${present} supplies, ${healthy} of them as ok`,
  );
}
