/** The payment endpoint. Its own log is the truth: what is in there was paid. */
import { createServer } from "node:http";

/**
 * Accepts every payment; one that carries an idempotency key, once.
 * @param onRequest may hold a request back before it is accepted; gets the payment and the pod's process id
 */
export async function startPayments(onRequest = async () => {}) {
  const accepted = [];
  const receipts = new Map();
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += part;
    const payment = JSON.parse(text);
    await onRequest(payment, Number(request.headers["x-pod"]));
    const key = request.headers["idempotency-key"];
    if (key === undefined || !receipts.has(key)) {
      accepted.push(payment);
      if (key !== undefined) receipts.set(key, `receipt-${accepted.length}`);
    }
    // A moment of work: this is where three pods meet.
    setTimeout(() => response.end(JSON.stringify({ receipt: receipts.get(key) ?? "none" })), 1);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/pay`,
    accepted,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
