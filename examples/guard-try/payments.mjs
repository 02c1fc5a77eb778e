/**
 * A payment endpoint to try the examples with: accepts one key once, and prints what it accepts.
 *
 *   node examples/guard-try/payments.mjs [PORT]
 */
import { createServer } from "node:http";

const receipts = new Map();
const server = createServer(async (request, response) => {
  let text = "";
  for await (const part of request) text += part;
  const key = request.headers["idempotency-key"] ?? "";
  const isNew = !receipts.has(key);
  if (isNew) receipts.set(key, `receipt-${receipts.size + 1}`);
  console.log(`${isNew ? "paid" : "seen before"}: ${key} ${text}`);
  response.end(JSON.stringify({ receipt: receipts.get(key) }));
});
server.listen(Number(process.argv[2] ?? 8099), "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${server.address().port}/pay`);
});
