/** `escapement status --json`, as far as playbooks look at it. */
import { z } from "zod";
import { EscapementError } from "../../base/errors.ts";
import type { HostWorld } from "./host-world.ts";
import { askStore } from "./toolkit.ts";

const schema = z.object({
  leader: z.object({ alive: z.boolean(), node: z.string().nullable(), epoch: z.number() }),
  schedulers: z.array(z.object({ node: z.string(), role: z.string(), pid: z.number() })),
  executors: z.array(
    z.object({
      node: z.string(),
      state: z.string(),
      expired: z.boolean(),
      pid: z.number(),
      version: z.string(),
    }),
  ),
  drained: z.array(z.object({ node: z.string() })),
  loads: z.array(z.object({ node: z.string(), running: z.number(), processes: z.number() })),
});

export type ClusterStatus = z.output<typeof schema>;

/** @throws E_UNKNOWN when no scheduler could ask */
export async function readStatus(world: HostWorld): Promise<ClusterStatus> {
  const answer = await askStore(world, ["status"], { looks: true });
  const parsed = schema.safeParse(answer.json);
  if (parsed.success) return parsed.data;
  throw new EscapementError("E_UNKNOWN", {
    what: `the cluster's status: ${answer.error?.message ?? "an answer of another version"}`,
    hint: "run escapement status on a scheduler",
  });
}
