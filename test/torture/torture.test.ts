/** The exactly-once test: real processes, real signals, a thousand kills, and nothing lost or done twice. */
import { expect, test } from "vitest";
import { seedFrom } from "../chaos/seeded-random.ts";
import { runCampaign } from "./campaign.ts";
import { reportText } from "./report.ts";

const seed = seedFrom("TORTURE_SEED");
const kills = Number(process.env.TORTURE_KILLS ?? 1_000);

test(
  "every effect happens exactly once under a thousand kills",
  async () => {
    console.log(`torture: TORTURE_SEED=${seed}`);
    const result = await runCampaign({
      seed,
      clusters: 4,
      kills,
      minutes: 10,
      onProgress: (line) => console.log(`torture: ${line}`),
    });
    console.log(reportText(result));
    expect({ outcome: result.outcome, unknown: result.unknown }).toEqual({ outcome: "pass", unknown: [] });
    expect(result.kills).toBeGreaterThanOrEqual(kills);
    expect(result.clusters.map((one) => one.strays)).toEqual([0, 0, 0, 0]);
  },
  20 * 60_000,
);
