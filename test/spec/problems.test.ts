/** Files with mistakes, and what is said about them. The answers stand beside the files and are read by people. */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { validateSchedule } from "../../src/cli/jobs/validate-schedule.ts";
import { kindNames } from "../../src/spec/kinds.ts";
import { loadFiles } from "../../src/spec/load.ts";
import { compareProblems, formatProblem } from "../../src/spec/problem.ts";
import { resolveJobs } from "../../src/spec/resolve.ts";

const folder = "test/cases/spec/problems";
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));

test.each(files)("%s", async (name) => {
  const { documents, problems } = await loadFiles([`${folder}/${name}`]);
  const resolved = resolveJobs(documents, { validateSchedule, now: new Date("2026-01-15T00:00:00Z") });
  const lines = [...problems, ...resolved.problems]
    .sort(compareProblems)
    .map((problem) =>
      formatProblem(problem).replaceAll(`${folder}/`, "").replace(kindNames.join(", "), "every kind"),
    );
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(
    `../../${folder}/${name.replace(/yaml$/, "txt")}`,
  );
});
