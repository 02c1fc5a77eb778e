/**
 * `npm run torture -- [--kills N] [--clusters K] [--seed S] [--minutes M] [--haste H] [--only PHASE] [--histories DIR] [--json]`
 *
 * Exit codes: 0 pass, 1 fail, 5 unknown.
 */
import { mkdirSync } from "node:fs";
import { parseArgs } from "node:util";
import { ExitCode } from "../../src/base/exit-code.ts";
import { print, printJson, say } from "../../src/cli/terminal.ts";
import { runCampaign } from "./campaign.ts";
import { type Phase, phases } from "./fault-plan.ts";
import { reportText } from "./report.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "1000" },
    clusters: { type: "string", default: "4" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 2 ** 31)) },
    minutes: { type: "string" },
    haste: { type: "string", default: "1" },
    only: { type: "string" },
    histories: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const kills = Number(values.kills);
const clusters = Number(values.clusters);
const seed = Number(values.seed);
// Generous: the run ends when the kills are done.
const minutes = Number(values.minutes ?? Math.max(2, kills / 100));
const haste = Number(values.haste);
for (const [name, value] of Object.entries({ kills, clusters, seed, minutes, haste })) {
  if (!Number.isFinite(value) || value < 0) {
    process.stderr.write(`--${name}: not a number\n`);
    process.exit(ExitCode.usage);
  }
}
if (values.only !== undefined && !(phases as readonly string[]).includes(values.only)) {
  process.stderr.write(`--only: one of ${phases.join(", ")}\n`);
  process.exit(ExitCode.usage);
}
if (values.histories !== undefined) mkdirSync(values.histories, { recursive: true });
say(`torture: ${kills} kills over ${clusters} cluster(s), at most ${minutes} minutes; seed ${seed}`);
const result = await runCampaign({
  seed,
  clusters,
  kills,
  minutes,
  haste,
  only: values.only as Phase | undefined,
  onProgress: say,
  keepHistories: values.histories,
});
if (values.json) printJson({ ...result });
else print(reportText(result));
// Ends here and now, once everything is printed: a broken connection of a fault must not hold the process.
const exitCode = { pass: ExitCode.ok, fail: ExitCode.failed, unknown: ExitCode.unknown }[result.outcome];
process.stdout.write("", () => process.exit(exitCode));
