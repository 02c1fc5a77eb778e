/** Channels over HTTP: a server that checks signatures, Alertmanager, stand-ins for PagerDuty and Slack. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import type { WatchChannel } from "../../src/spec/watch-definition.ts";
import { openChannel } from "../../src/watchman/channels/open-channels.ts";
import { hasAlertmanager, startAlertmanager } from "../support/alertmanager.ts";
import { Receiver } from "../support/receiver.ts";
import { unavailable } from "../support/tier.ts";
import { until } from "../support/until.ts";
import { inFile, message, secret } from "./channel-message.ts";

describe("webhook", () => {
  const open = (url: string, more: Partial<Extract<WatchChannel, { type: "webhook" }>> = {}) =>
    openChannel({
      ...{ name: "hook", type: "webhook", timeoutMs: 2_000, secret: inFile(secret), ...more },
      url: { from: "plain", value: url },
    });

  /** What a receiver does that trusts nobody. */
  function isGenuine({ headers, body }: Receiver["asked"][number]): boolean {
    const stamp = String(headers["escapement-timestamp"]);
    if (Math.abs(Date.now() / 1_000 - Number(stamp)) > 300) return false;
    const expected = Buffer.from(
      `sha256=${createHmac("sha256", secret).update(`${stamp}.${body}`).digest("hex")}`,
    );
    const given = Buffer.from(String(headers["escapement-signature"]));
    return expected.length === given.length && timingSafeEqual(expected, given);
  }

  test("the receiver can check who it is from; another key or a changed body is refused", async () => {
    const receiver = await Receiver.open();
    receiver.answer = (request) => ({ status: isGenuine(request) ? 204 : 401 });
    expect(await open(`${receiver.url}/alerts`).send([message()])).toEqual({ accepted: true });
    expect(receiver.accepted[0]?.json).toEqual({
      schemaVersion: 1,
      id: "late:1@x:open",
      kind: "alert",
      alert: message(),
    });
    expect(isGenuine({ ...receiver.asked[0]!, body: receiver.asked[0]!.body.replace("late", "fine") })).toBe(
      false,
    );
    const other = open(receiver.url, { secret: inFile("another key") });
    expect(await other.send([message()])).toMatchObject({ accepted: false, reason: "HTTP 401" });
  });

  test("a digest is one request", async () => {
    const receiver = await Receiver.open();
    await open(receiver.url).sendDigest!({ id: "d", messages: [message(), message({ key: "late:2" })] });
    expect(receiver.asked.map(({ json }) => [json.kind, json.count, json.alerts.length])).toEqual([
      ["digest", 2, 2],
    ]);
  });

  test.each([
    [400, true],
    [422, true],
    [404, false],
    [429, false],
    [500, false],
    [503, false],
    [302, false],
    [304, false],
  ])("an answer of %i is no acceptance; final: %s", async (status, rejected) => {
    const receiver = await Receiver.open();
    receiver.answer = () => ({ status });
    expect(await open(receiver.url).send([message()])).toMatchObject({ accepted: false, rejected });
    expect(receiver.asked).toHaveLength(1);
  });

  test.each([200, 500])("an answer of %i without an end is not read to its end", async (status) => {
    let closed = false;
    const server = createServer((_, response) => {
      response.writeHead(status);
      const chunk = "x".repeat(65_536);
      const more = (): void => {
        if (!closed) response.write(chunk, () => setImmediate(more));
      };
      response.on("close", () => (closed = true)).on("error", () => {});
      more();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    // The time limit must not be what ends it.
    const answer = await open(`http://127.0.0.1:${port}`, { timeoutMs: 300_000 }).send([message()]);
    expect(answer.accepted).toBe(status === 200);
    await until(() => closed, { what: "the end of the connection" });
  });

  test("one that says nothing is left after the time limit; one that is not there is no error of ours", async () => {
    const receiver = await Receiver.open();
    receiver.answer = () => "nothing";
    expect(await open(receiver.url, { timeoutMs: 200 }).send([message()])).toEqual({
      accepted: false,
      rejected: false,
      reason: "no answer within 200 ms",
    });
    await receiver.down();
    expect(await open(receiver.url).send([message()])).toMatchObject({ accepted: false, rejected: false });
  });

  test("a changed secret counts at once; a missing one is named by its place, and nothing is sent", async () => {
    const receiver = await Receiver.open();
    const place = inFile("first");
    const channel = open(receiver.url, { secret: place });
    await channel.send([message()]);
    writeFileSync(place.file, secret);
    await channel.send([message()]);
    expect(receiver.asked.map(isGenuine)).toEqual([false, true]);
    rmSync(place.file);
    const answer = await channel.send([message()]);
    expect(answer).toMatchObject({ accepted: false, reason: expect.stringContaining(place.file) });
    expect(receiver.asked).toHaveLength(2);
  });

  test("neither the key nor the path of the URL is in a reason, whatever the receiver says", async () => {
    const receiver = await Receiver.open();
    receiver.answer = () => ({ status: 500, body: `no: /hidden/token ${secret} password=hunter2` });
    const answer = await open(`${receiver.url}/hidden/token`).send([message()]);
    expect(answer).toMatchObject({ reason: "HTTP 500 no: *** *** password=***" });
  });
});

describe.skipIf(unavailable("Alertmanager", hasAlertmanager))("Alertmanager", () => {
  test("it holds the alert while it is posted, is told of its end, and tells its receivers both", async () => {
    const told = await Receiver.open();
    const alertmanager = await startAlertmanager(told.url);
    const channel = openChannel({
      ...{ name: "am", type: "alertmanager", timeoutMs: 5_000, resendEveryMs: 60_000 },
      url: { from: "plain", value: `${alertmanager.url}/` },
    });
    const openedAt = new Date(Date.now() - 60_000).toISOString();
    const open = message({ openedAt });
    expect(await channel.send([open, message({ openedAt, key: "late:2", severity: "warning" })])).toEqual({
      accepted: true,
    });
    const held = await until(
      async () => {
        const alerts = await alertmanager.alerts();
        return alerts.length === 2 && alerts;
      },
      { what: "both alerts" },
    );
    const first = held.find((one) => one.labels.key === "late:1")!;
    expect(first.labels).toEqual({
      alertname: "late-start",
      key: "late:1",
      source: "escapement",
      job: "payroll/bonus",
    });
    expect(first.annotations).toMatchObject({ summary: open.message, severity: "critical", hint: "look" });
    expect(Date.parse(first.startsAt)).toBe(Date.parse(openedAt));
    // Worse is the same alert: no second one appears.
    await channel.send([{ ...open, phase: "raised", severity: "warning" }]);
    expect(await alertmanager.alerts()).toHaveLength(2);
    await channel.send([{ ...open, phase: "resolved", resolvedAt: new Date().toISOString() }]);
    await until(async () => (await alertmanager.alerts()).map((one) => one.labels.key).join() === "late:2", {
      what: "one alert to be left",
    });
    await until(
      () => told.accepted.some(({ json }) => json.status === "resolved" && json.groupLabels.key === "late:1"),
      { what: "the receiver to be told of the end" },
    );
  });

  test("what is not posted again is over for it; what is posted again stays", async () => {
    const told = await Receiver.open();
    const alertmanager = await startAlertmanager(told.url);
    const settings = { name: "am", type: "alertmanager", timeoutMs: 5_000, resendEveryMs: 500 } as const;
    const channel = openChannel({ ...settings, url: { from: "plain", value: alertmanager.url } });
    const kept = message({ openedAt: new Date().toISOString(), key: "kept" });
    await channel.send([kept, { ...kept, key: "left" }]);
    await until(async () => (await alertmanager.alerts()).length === 2, { what: "both" });
    await until(
      async () => {
        await channel.send([kept]);
        return (await alertmanager.alerts()).map((one) => one.labels.key).join() === "kept";
      },
      { what: "the one that is not posted again to end", everyMs: 300 },
    );
  });

  test("what it refuses is refused for good", async () => {
    const told = await Receiver.open();
    const alertmanager = await startAlertmanager(told.url);
    const settings = { name: "am", type: "alertmanager", timeoutMs: 5_000, resendEveryMs: 500 } as const;
    const channel = openChannel({ ...settings, url: { from: "plain", value: alertmanager.url } });
    expect(await channel.send([message({ openedAt: "yesterday" })])).toMatchObject({
      accepted: false,
      rejected: true,
    });
  });
});

describe("PagerDuty and Slack", () => {
  test("trigger and resolve have the same key, also a long one, and the routing key is in no reason", async () => {
    const receiver = await Receiver.open();
    receiver.answer = () => ({ status: 202 });
    const settings = {
      name: "pd",
      type: "pagerduty",
      timeoutMs: 2_000,
      routingKey: inFile("R0UT1NG"),
    } as const;
    const channel = openChannel({ ...settings, url: { from: "plain", value: receiver.url } });
    const key = "k".repeat(300);
    await channel.send([message({ key }), message({ key, phase: "resolved" }), message({ key: `${key}2` })]);
    const events = receiver.accepted.map(({ json }) => json);
    expect(events.map((one) => one.event_action)).toEqual(["trigger", "resolve", "trigger"]);
    expect(events[0].dedup_key).toHaveLength(255);
    expect(events[1].dedup_key).toBe(events[0].dedup_key);
    expect(events[2].dedup_key).not.toBe(events[0].dedup_key);
    expect(events[0]).toMatchObject({
      routing_key: "R0UT1NG",
      payload: { severity: "critical", source: "payroll/bonus" },
    });
    receiver.answer = () => ({ status: 400, body: "bad key R0UT1NG" });
    expect(await channel.send([message()])).toEqual({
      accepted: false,
      rejected: true,
      reason: "HTTP 400 bad key ***",
    });
  });

  test("a text cannot call a whole channel, and the URL is in no reason", async () => {
    const receiver = await Receiver.open();
    const place = inFile(`${receiver.url}/services/T0/B0/hidden`);
    const channel = openChannel({ name: "sl", type: "slack", timeoutMs: 2_000, url: place });
    await channel.send([message({ message: "<!channel> & all" })]);
    expect(receiver.asked[0]?.json.text).toContain("&lt;!channel&gt; &amp; all");
    receiver.answer = (request) => ({ status: 500, body: request.path });
    expect(await channel.send([message()])).toMatchObject({ reason: "HTTP 500 ***" });
  });
});
