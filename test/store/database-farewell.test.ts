/** A server that says goodbye in the same packet as its greeting must not take the process with it. */
import { type AddressInfo, createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { Database } from "../../src/store/database.ts";

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const greeting = [message("R", Buffer.alloc(4)), message("Z", Buffer.from("I"))];
const farewell = message(
  "E",
  Buffer.from("SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"),
);

test("an end right behind the greeting is a store that is away, and nothing worse", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => socket.end(Buffer.concat([...greeting, farewell])));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const database = new Database(`postgresql://x@127.0.0.1:${(server.address() as AddressInfo).port}/x`);
  onTestFinished(async () => {
    await database.end();
    server.close();
  });
  const uncaught: Error[] = [];
  const listener = (error: Error) => uncaught.push(error);
  process.on("uncaughtException", listener);
  onTestFinished(() => void process.off("uncaughtException", listener));
  await expect(database.query("SELECT 1")).rejects.toMatchObject({ code: "E_STORE_UNAVAILABLE" });
  expect(uncaught).toEqual([]);
});
