import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { parseAnswer } from "../../src/provision/bundle/frame.ts";

const nonce = "escapement-0123";
const records = ['{"fact":"path\\t/a"}', '{"fact":"end\\tpath\\t0"}'];
const sum = createHash("sha256")
  .update(`${records.join("\n")}\n`)
  .digest("hex");
const whole = `${nonce} begin 1\n${records.join("\n")}\n${nonce} end 2 ${sum}\n`;

test("banners and noise around an answer do not matter", () => {
  const facts = ["path\t/a", "end\tpath\t0"];
  expect(parseAnswer(whole, nonce)).toEqual({ facts });
  expect(parseAnswer(`Welcome!\n{"fact":"no"}\nescapement-9999 begin 1\n\n${whole}bye\n`, nonce)).toEqual({
    facts,
  });
});

const broken: [what: string, output: string, reason: RegExp][] = [
  ["nothing at all", "", /did not answer/],
  ["another's nonce", whole.replaceAll(nonce, "escapement-9999"), /did not answer/],
  ["another version", whole.replace("begin 1", "begin 2"), /version 2/],
  ["no trailer", whole.slice(0, whole.indexOf(`${nonce} end`)), /has no end/],
  ["cut in the trailer's sum", whole.slice(0, -10), /its sum is wrong/],
  ["a record lost", whole.replace(`${records[1]}\n`, ""), /2 records were sent, 1 arrived/],
  ["a record changed", whole.replace("/a", "/b"), /its sum is wrong/],
  [
    "noise inside",
    whole.replace(records[0]!, `${records[0]}\nkernel: oops`),
    /2 records were sent, 3 arrived/,
  ],
];
test.each(broken)("%s is lost, never ok", (_, output, reason) => {
  const answer = parseAnswer(output, nonce);
  expect(answer).toHaveProperty("lost");
  expect("lost" in answer && answer.lost).toMatch(reason);
});

test("an answer cut at any byte is lost", () => {
  for (let end = 0; end < whole.length - 1; end++)
    expect(parseAnswer(whole.slice(0, end), nonce)).toHaveProperty("lost");
});
