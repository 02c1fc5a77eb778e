/** Mail: one message a delivery, handed to one server. Accepted means that the server has taken it over. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import type { WatchChannel } from "../../spec/watch-definition.ts";
import { readSecret, reasonWithout } from "../secret.ts";
import { type Acceptance, type Channel, digestSubject, digestText, subjectOf, textOf } from "./channel.ts";
import { attempt } from "./http-post.ts";
import { SmtpConversation, SmtpRefusal } from "./smtp-conversation.ts";

type Settings = Extract<WatchChannel, { type: "smtp" }>;

export function smtpChannel(settings: Settings): Channel {
  const { name, type, timeoutMs } = settings;
  return {
    name,
    type,
    timeoutMs,
    keepsState: false,
    send: ([message]) => mail(settings, message!.id, subjectOf(message!), textOf(message!)),
    sendDigest: (digest) => mail(settings, digest.id, digestSubject(digest), digestText(digest)),
  };
}

function mail(settings: Settings, id: string, subject: string, text: string): Promise<Acceptance> {
  return attempt(async () => {
    const { login, caFile } = settings;
    const password = login && (await readSecret(login.password));
    const ca = caFile === undefined ? undefined : await readFile(caFile, "utf8");
    const secrets =
      login && password !== undefined
        ? [password, Buffer.from(`\0${login.user}\0${password}`).toString("base64")]
        : [];
    const conversation = new SmtpConversation(settings, ca);
    try {
      await conversation.begin();
      if (login && password !== undefined) await conversation.login(login.user, password);
      await conversation.hand(settings.from, settings.to, compose(settings, id, subject, text));
      return { accepted: true };
    } catch (error) {
      const rejected = error instanceof SmtpRefusal && error.final;
      return { accepted: false, rejected, reason: reasonWithout(secrets, (error as Error).message) };
    } finally {
      conversation.end();
    }
  });
}

/** Headers and body; lines end with CR LF. The body is base64: no line is too long, none begins with a dot. */
function compose(settings: Settings, id: string, subject: string, text: string): string {
  const digest = createHash("sha256").update(id).digest("hex").slice(0, 32);
  const body =
    Buffer.from(`${text}\n`)
      .toString("base64")
      .match(/.{1,76}/g) ?? [];
  return [
    `From: <${settings.from}>`,
    `To: ${settings.to.map((one) => `<${one}>`).join(",\r\n ")}`,
    `Subject: ${encodeWords(subject)}`,
    `Date: ${new Date().toUTCString().replace("GMT", "+0000")}`,
    // The same for every try, so that a mailbox can tell a repeat.
    `Message-ID: <${digest}@${hostname().replace(/[^A-Za-z0-9.-]/g, "") || "localhost"}>`,
    "Auto-Submitted: auto-generated",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
    "",
    ...body,
    "",
  ].join("\r\n");
}

const longestSubject = 200;

/** RFC 2047, in pieces that a line can hold; no character is cut in two. */
function encodeWords(subject: string): string {
  const words: string[] = [];
  let piece = "";
  for (const character of subject.replace(/\s+/g, " ").slice(0, longestSubject)) {
    if (Buffer.byteLength(piece + character) > 42) {
      words.push(piece);
      piece = "";
    }
    piece += character;
  }
  words.push(piece);
  return words.map((word) => `=?utf-8?B?${Buffer.from(word).toString("base64")}?=`).join("\r\n ");
}
