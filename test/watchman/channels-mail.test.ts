/** Mail, to a server of this machine: plain, STARTTLS, TLS, logins, refusals. */
import { expect, test } from "vitest";
import type { WatchChannel } from "../../src/spec/watch-definition.ts";
import { openChannel } from "../../src/watchman/channels/open-channels.ts";
import { type MailServerOptions, TestMailServer } from "../support/mail-server.ts";
import { inFile, message } from "./channel-message.ts";

const login = { user: "watch", password: "s3cret-pass" };
async function open(options: MailServerOptions, more: Partial<Extract<WatchChannel, { type: "smtp" }>> = {}) {
  const server = await TestMailServer.open(options);
  const channel = openChannel({
    ...{ name: "mail", type: "smtp", timeoutMs: 5_000, host: "127.0.0.1", port: server.port },
    ...{ security: options.security, from: "watch@example.com", to: ["a@example.com", "b@example.com"] },
    ...(options.security !== "none" && { caFile: server.caFile }),
    ...(options.login && { login: { user: options.login.user, password: inFile(options.login.password) } }),
    ...more,
  });
  return { server, channel };
}

test.each([
  ["plain", { security: "none" }],
  ["STARTTLS with a login", { security: "starttls", login }],
  ["TLS from the start with a login", { security: "tls", login }],
] as const)("%s", async (_what, options) => {
  const { server, channel } = await open(options);
  expect(await channel.send([message()])).toEqual({ accepted: true });
  expect(server.mails).toHaveLength(1);
  const [mail] = server.mails;
  expect(mail).toMatchObject({
    from: "watch@example.com",
    to: ["a@example.com", "b@example.com"],
    encrypted: options.security !== "none",
    user: "login" in options ? "watch" : undefined,
  });
  expect(mail?.text).toContain("Bonus für März is late.\nrule late-start, key late:1\n");
  const subject = mail!.headers.subject!.replace(/=\?utf-8\?B\?(.*?)\?=\s*/g, (_, word: string) =>
    Buffer.from(word, "base64").toString(),
  );
  expect(subject).toBe("[critical] payroll/bonus: Bonus für März is late.");
});

test("many in one mail; the same message has the same Message-ID", async () => {
  const { server, channel } = await open({ security: "none" });
  await channel.send([message()]);
  await channel.send([message()]);
  const many = Array.from({ length: 60 }, (_, i) => message({ key: `${i}`, message: `No ${i}.` }));
  await channel.sendDigest!({ id: "d", messages: many });
  const ids = server.mails.map((mail) => mail.headers["message-id"]);
  expect(ids[0]).toBe(ids[1]);
  expect(ids[2]).not.toBe(ids[0]);
  expect(server.mails[2]?.text).toMatch(/60 messages in one[\s\S]*No 49\.[\s\S]*and 10 more/);
});

test("a certificate that nobody vouches for gets neither password nor mail", async () => {
  const { server, channel } = await open({ security: "starttls", login });
  const blind = openChannel({
    ...{
      name: "mail",
      type: "smtp",
      timeoutMs: 5_000,
      host: "127.0.0.1",
      port: server.port,
      security: "starttls",
    },
    ...{ from: "watch@example.com", to: ["a@example.com"] },
    login: { user: login.user, password: inFile(login.password) },
  });
  expect(await blind.send([message()])).toMatchObject({
    accepted: false,
    reason: expect.stringMatching(/certificate/),
  });
  expect(server.commands.join()).not.toMatch(/AUTH/);
  expect(await channel.send([message()])).toEqual({ accepted: true });
});

test("a server that takes STARTTLS back gets no password", async () => {
  const { server, channel } = await open({
    security: "starttls",
    login,
    answer: (line) => (line.startsWith("EHLO") ? "250 test" : undefined),
  });
  expect(await channel.send([message()])).toMatchObject({ reason: "the server does not offer STARTTLS" });
  expect(server.commands.join()).not.toMatch(/AUTH/);
});

test("a wrong password: no mail, and the password is in no reason", async () => {
  const { server, channel } = await open(
    { security: "tls", login: { user: "watch", password: "right" } },
    { login: { user: "watch", password: inFile("wrong-one") } },
  );
  const answer = await channel.send([message()]);
  expect(answer).toMatchObject({
    accepted: false,
    rejected: false,
    reason: "AUTH PLAIN: 535 bad password ***",
  });
  expect(server.mails).toEqual([]);
});

test.each([
  ["a receiver that is refused: nobody gets it", "RCPT TO:<b@", "550 no such box", true],
  ["a mail that is refused", "the mail", "554 no", true],
  ["a mail that may come later", "the mail", "451 busy", false],
])("%s", async (_what, command, reply, rejected) => {
  const { server, channel } = await open({
    security: "none",
    answer: (line) => (line.startsWith(command) ? reply : undefined),
  });
  expect(await channel.send([message()])).toMatchObject({ accepted: false, rejected });
  expect(server.mails).toEqual([]);
});

test("one that says nothing is left after the time limit", async () => {
  const { channel } = await open({ security: "none", answer: () => "" }, { timeoutMs: 300 });
  expect(await channel.send([message()])).toEqual({
    accepted: false,
    rejected: false,
    reason: "not done within 300 ms",
  });
});
