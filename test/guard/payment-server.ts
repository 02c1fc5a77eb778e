/** A deduplicating payment endpoint that can lose an answer, hold one back, or say no. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface PaymentServer {
  readonly url: string;
  /** How often each person was paid in this period. */
  paid(period: string): Record<string, number>;
  /** Accepts, then cuts the line. Once. */
  loseAnswerOf(period: string, user: string): void;
  /** Accepts, then says nothing. Once. Resolves when it has accepted. */
  holdAnswerOf(period: string, user: string): Promise<void>;
  /** Answers 422, always. */
  refuse(period: string, user: string): void;
  close(): Promise<void>;
}

export async function startPaymentServer(): Promise<PaymentServer> {
  const receipts = new Map<string, { month: string; userId: string; receipt: number }>();
  const lost = new Set<string>();
  const refused = new Set<string>();
  const held = new Map<string, () => void>();
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const part of request) text += String(part);
    const { month, userId } = JSON.parse(text) as { month: string; userId: string };
    const who = `${month}/${userId}`;
    if (refused.has(who)) {
      response.statusCode = 422;
      return void response.end("no such account");
    }
    // A client that does not send its key gets paid for it every time.
    const key = String(request.headers["idempotency-key"] ?? `without a key ${receipts.size}`);
    if (!receipts.has(key)) receipts.set(key, { month, userId, receipt: receipts.size });
    if (lost.delete(who)) return void request.socket.destroy();
    const onHeld = held.get(who);
    if (onHeld) {
      held.delete(who);
      return onHeld();
    }
    response.end(JSON.stringify(receipts.get(key)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/pay`,
    paid(period) {
      const times: Record<string, number> = {};
      for (const { month, userId } of receipts.values())
        if (month === period) times[userId] = (times[userId] ?? 0) + 1;
      return times;
    },
    loseAnswerOf: (period, user) => void lost.add(`${period}/${user}`),
    holdAnswerOf: (period, user) => new Promise((resolve) => held.set(`${period}/${user}`, resolve)),
    refuse: (period, user) => void refused.add(`${period}/${user}`),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
