/** What the commands ask of a lab's keeper: one line of JSON, one line back. */
import { connect } from "node:net";
import { z } from "zod";
import { EscapementError } from "../../base/errors.ts";

export const requestSchema = z.discriminatedUnion("ask", [
  z.object({ ask: z.literal("status") }),
  z.object({ ask: z.literal("down") }),
  z.object({ ask: z.literal("cut"), node: z.string(), receiveOnly: z.boolean() }),
  z.object({ ask: z.literal("heal"), node: z.string().optional() }),
  z.object({ ask: z.literal("power"), node: z.string(), on: z.boolean() }),
  z.object({ ask: z.literal("clock"), node: z.string(), offsetSeconds: z.number() }),
]);

export type LabRequest = z.output<typeof requestSchema>;

const nodeSchema = z.object({
  name: z.string(),
  address: z.string(),
  role: z.string(),
  on: z.boolean(),
  clockOffsetSeconds: z.number(),
  cut: z.enum(["both", "receive"]).optional(),
  logFile: z.string().optional(),
});

export type LabNode = z.output<typeof nodeSchema>;

const answerSchema = z.object({
  nodes: z.array(nodeSchema).optional(),
  failed: z.object({ reason: z.string() }).optional(),
});

export type LabAnswer = z.output<typeof answerSchema>;

/** @returns undefined when nobody listens. @throws E_LAB_STEP with the keeper's reason, or when it does not answer in time */
export async function askKeeper(
  socket: string,
  request: LabRequest,
  deadlineMs: number,
): Promise<LabAnswer | undefined> {
  const text = await new Promise<string | undefined>((resolve, reject) => {
    const connection = connect(socket);
    let received = "";
    const timer = setTimeout(() => {
      connection.destroy();
      reject(
        new EscapementError("E_LAB_STEP", { step: request.ask, reason: "the lab's keeper does not answer" }),
      );
    }, deadlineMs);
    connection.setEncoding("utf8");
    connection.once("connect", () => connection.write(`${JSON.stringify(request)}\n`));
    connection.on("data", (part) => {
      received += part;
    });
    connection.once("error", () => resolve(undefined));
    connection.once("close", () => {
      clearTimeout(timer);
      resolve(received === "" ? undefined : received);
    });
  });
  if (text === undefined) return undefined;
  const answer = answerSchema.parse(JSON.parse(text));
  if (answer.failed)
    throw new EscapementError("E_LAB_STEP", { step: request.ask, reason: answer.failed.reason });
  return answer;
}
