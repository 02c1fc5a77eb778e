/** Item 6, of effects that no rehearsal shows: messages and calls that the sources do not show either. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { idempotentWrites } from "../../../src/checklist/items/06-idempotent-writes.ts";
import { definitionsOf } from "../good-cluster.ts";
import { type GoodFiles, goodFiles } from "../good-sources.ts";
import { context, resultOf } from "../item-scene.ts";

let files: GoodFiles;
beforeAll(() => {
  files = goodFiles();
});
afterAll(() => files.remove());

it.each([
  ["sends with a key", "channel.basic_publish(body, message_id=key)\n", "pass", /adds up or repeats/],
  ["sends without one", "channel.basic_publish(body)\n", "fail", /a message is sent without a key/],
  [
    "prepares it, and another program sends",
    "body = render()\n",
    "unknown",
    /nothing in jobs\/report\.py sends/,
  ],
  [
    "names it in a comment",
    "# channel.basic_publish(body, message_id=key)\nrun()\n",
    "unknown",
    /nothing in/,
  ],
])("a source that %s", async (_, text, verdict, message) => {
  files.write("jobs/report.py", text);
  const of = context({ definitions: definitionsOf(files.root) });
  const found = await resultOf(idempotentWrites, "pay/report", of);
  expect(found, found.message).toMatchObject({ verdict, message: expect.stringMatching(message) });
});
