import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTcpProxy, type TcpProxy } from "../../src/lab/tcp-proxy.ts";
import { until } from "../support/until.ts";

/** A server that answers every byte with the same byte, and remembers what it saw; a new one for each test. */
let server: Server;
let port = 0;
let seen = { connections: 0, text: "", ends: 0, resets: 0 };

beforeEach(async () => {
  const mine = { connections: 0, text: "", ends: 0, resets: 0 };
  seen = mine;
  server = createServer({ allowHalfOpen: true }, (socket) => {
    mine.connections += 1;
    socket.on("data", (chunk) => {
      mine.text += chunk.toString("latin1").slice(0, 100);
      socket.write(chunk);
    });
    socket.on("end", () => {
      mine.ends += 1;
      socket.end();
    });
    socket.on("error", () => {
      mine.resets += 1;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  port = (server.address() as { port: number }).port;
});

let proxy: TcpProxy;
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await proxy.close();
  server.close();
});

interface Client {
  readonly socket: Socket;
  text: string;
  bytes: number;
  end: "open" | "end" | "reset";
}

async function client(): Promise<Client> {
  const one: Client = {
    socket: connect({ host: "127.0.0.1", port: proxy.port, allowHalfOpen: true }),
    text: "",
    bytes: 0,
    end: "open",
  };
  clients.push(one);
  one.socket.on("data", (chunk) => {
    one.bytes += chunk.length;
    one.text += chunk.toString("latin1").slice(0, 100);
  });
  one.socket.on("end", () => (one.end = "end"));
  one.socket.on("error", () => (one.end = "reset"));
  // A reset may come so early that even the connection fails.
  await once(one.socket, "connect").catch(() => {});
  return one;
}

/** Long enough for loopback to deliver what is not held back. */
const moment = () => new Promise((resolve) => setTimeout(resolve, 150));

test("open: bytes pass both ways, and an end passes as an end", async () => {
  proxy = await startTcpProxy({ port });
  const one = await client();
  one.socket.write("hello");
  await until(() => one.text === "hello", { what: "the echo" });
  one.socket.end();
  await until(() => one.end === "end" && seen.ends === 1, { what: "both ends" });
  await until(() => proxy.connections.open === 0, { what: "the proxy to forget it" });
});

test("paused: a write succeeds and nobody learns anything, until heal brings it in order", async () => {
  proxy = await startTcpProxy({ port });
  const one = await client();
  one.socket.write("a");
  await until(() => one.text === "a", { what: "the echo" });
  proxy.pause();
  one.socket.write("b");
  one.socket.write("c");
  await moment();
  expect(seen.text).toBe("a");
  expect(one.end).toBe("open");
  proxy.heal();
  await until(() => one.text === "abc", { what: "the held bytes" });
});

test("paused: the end of a client that dies is held, too", async () => {
  proxy = await startTcpProxy({ port });
  const one = await client();
  const two = await client();
  for (const each of [one, two]) each.socket.write("a");
  await until(() => seen.text === "aa", { what: "both" });
  proxy.pause();
  one.socket.end();
  two.socket.resetAndDestroy();
  await moment();
  expect(seen.ends + seen.resets).toBe(0);
  proxy.heal();
  await until(() => seen.ends === 1 && seen.resets === 1, { what: "the end and the reset" });
});

test("paused to the client only: the server works, its answers wait", async () => {
  proxy = await startTcpProxy({ port });
  const one = await client();
  proxy.pause("to-client");
  one.socket.write("write");
  await until(() => seen.text === "write", { what: "the server's sight" });
  await moment();
  expect(one.text).toBe("");
  proxy.heal();
  await until(() => one.text === "write", { what: "the answer" });
});

test("paused: a new connection is accepted but does not reach the server before heal", async () => {
  proxy = await startTcpProxy({ port });
  proxy.pause("to-server");
  const one = await client();
  one.socket.write("late");
  await moment();
  expect(seen.connections).toBe(0);
  proxy.heal();
  await until(() => one.text === "late", { what: "the echo" });
});

test("cut: both sides see a reset, new connections too, held bytes are lost; heal lets new ones through", async () => {
  proxy = await startTcpProxy({ port });
  const one = await client();
  one.socket.write("a");
  await until(() => one.text === "a", { what: "the echo" });
  proxy.pause();
  one.socket.write("lost");
  await moment();
  proxy.cut();
  await until(() => one.end === "reset" && seen.resets === 1, { what: "two resets" });
  const refused = await client();
  await until(() => refused.end === "reset", { what: "the reset of a new connection" });
  proxy.heal();
  const two = await client();
  two.socket.write("b");
  await until(() => two.text === "b", { what: "the echo" });
  expect(seen.text).toBe("ab");
});

test("a pause under load loses nothing, although more is sent than is held", async () => {
  proxy = await startTcpProxy({ port });
  const one = await client();
  const total = 24 * 2 ** 20;
  proxy.pause();
  for (let sent = 0; sent < total; sent += 2 ** 20) one.socket.write(Buffer.alloc(2 ** 20, "x"));
  await moment();
  proxy.heal();
  await until(() => one.bytes === total, { what: "all bytes" });
});

test("a server that is down looks like a reset", async () => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const nobody = (closed.address() as { port: number }).port;
  closed.close();
  proxy = await startTcpProxy({ port: nobody });
  const one = await client();
  await until(() => one.end === "reset", { what: "the reset" });
});
