/** Jobs that name a user, on an executor that cannot change users. The scopes themselves need real hosts. */
import { expect, test } from "vitest";
import { until } from "../support/until.ts";
import { Workshop } from "./workshop.ts";

test("a job that names a user never runs as the executor's own", async () => {
  const workshop = await Workshop.open();
  await workshop.executor();
  await workshop.job("payer", 'echo ran > "$OLDPWD/ran"', { runAs: "settlement" });
  const run = await workshop.run("payer");
  const [attempt] = await until(
    async () => {
      const attempts = await workshop.attempts(run);
      return attempts.length > 0 && attempts;
    },
    { what: "an attempt that was handed on" },
  );
  expect(attempt).toMatchObject({
    outcome: "interrupted",
    error: expect.stringMatching(/this host cannot run it: the job runs as settlement.*isolation: scope/),
  });
  expect((await workshop.execution(run)).status).not.toBe("success");
});
