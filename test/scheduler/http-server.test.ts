/** The read-only door: what it answers, and what it does not fall over. */
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { serveHttp } from "../../src/scheduler/http-server.ts";
import { SchedulerMetrics } from "../../src/scheduler/metrics.ts";

async function open(status: () => Promise<Record<string, unknown>> = async () => ({ role: "standby" })) {
  const metrics = new SchedulerMetrics({ trustLeftMs: () => null, wallOffsetMs: () => 12 });
  let reasons: string[] = [];
  const server = await serveHttp(
    { address: "127.0.0.1", port: 0 },
    {
      readiness: () => ({ ready: reasons.length === 0, reasons }),
      metrics: () => metrics.registry.render(),
      status,
    },
  );
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    fail: (...why: string[]) => {
      reasons = why;
    },
  };
}

/** What comes back for raw text. */
function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.end(text));
    let answer = "";
    socket.setEncoding("utf8").on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("error", reject).on("close", () => resolve(answer));
  });
}

test("health, readiness with its reasons, status, and 404 that names the paths", async () => {
  const door = await open();
  expect((await fetch(`${door.url}/healthz`)).status).toBe(200);
  expect(await (await fetch(`${door.url}/readyz?verbose=1`)).json()).toEqual({ ready: true, reasons: [] });
  door.fail("no store");
  const unready = await fetch(`${door.url}/readyz`);
  expect([unready.status, await unready.json()]).toEqual([503, { ready: false, reasons: ["no store"] }]);
  expect(await (await fetch(`${door.url}/v1/status`)).json()).toEqual({ schemaVersion: 1, role: "standby" });
  const lost = await fetch(`${door.url}/nowhere`);
  expect([lost.status, ((await lost.json()) as { paths: string[] }).paths]).toEqual([
    404,
    expect.arrayContaining(["/metrics"]),
  ]);
});

test.each(["POST", "PUT", "DELETE", "PATCH"])(
  "%s is refused: nothing can be changed here",
  async (method) => {
    const door = await open();
    const answer = await fetch(`${door.url}/v1/status`, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  },
);

test("HEAD has no body", async () => {
  const door = await open();
  const answer = await fetch(`${door.url}/metrics`, { method: "HEAD" });
  expect([answer.status, await answer.text()]).toEqual([200, ""]);
});

test("every line of /metrics is Prometheus text, and each metric has help and type", async () => {
  const door = await open();
  const lines = (await (await fetch(`${door.url}/metrics`)).text()).trimEnd().split("\n");
  const declared = new Set<string>();
  for (const line of lines) {
    if (line.startsWith("# TYPE ")) declared.add(line.split(" ")[2]!);
    if (line.startsWith("#")) {
      expect(line).toMatch(/^# (HELP|TYPE) [a-zA-Z_:][a-zA-Z0-9_:]* \S/);
      continue;
    }
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[^}]*\})? ([-+]?[0-9.eE+-]+|NaN|[+-]Inf)$/.exec(line);
    expect(sample, line).not.toBeNull();
    expect(declared.has(sample![1]!.replace(/_(bucket|sum|count)$/, "")) || declared.has(sample![1]!)).toBe(
      true,
    );
  }
  expect(lines).toContain("escapement_scheduler_wall_offset_seconds 0.012");
});

test("a status that cannot be read is 503, not the end of the process", async () => {
  const door = await open(async () => {
    throw new Error("the store is away");
  });
  const answer = await fetch(`${door.url}/v1/status`);
  expect([answer.status, await answer.json()]).toEqual([503, { error: "the store is away" }]);
});

test.each(["//", "///?", "/%", "/..//", "/[", "*", "http://"])(
  "a request for %s is answered, and the next one, too",
  async (path) => {
    const door = await open();
    expect(await raw(door.port, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 4/,
    );
    expect((await fetch(`${door.url}/healthz`)).status).toBe(200);
  },
);

test("a port in use is an error that says so", async () => {
  const door = await open();
  const second = serveHttp(
    { address: "127.0.0.1", port: door.port },
    { readiness: () => ({ ready: true, reasons: [] }), metrics: () => "", status: async () => ({}) },
  );
  await expect(second).rejects.toMatchObject({
    code: "E_UNAVAILABLE",
    message: expect.stringContaining(`127.0.0.1:${door.port}`),
  });
});
