/** A small mail server on this machine: greets, may ask for TLS and a login, keeps the mails. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer, TLSSocket } from "node:tls";
import { onTestFinished } from "vitest";
import { LineSplitter } from "../../src/base/lines.ts";

export interface Mail {
  readonly from: string;
  readonly to: readonly string[];
  /** Headers by lower-case name, folded lines joined. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decoded. */
  readonly text: string;
  readonly encrypted: boolean;
  readonly user: string | undefined;
}

export interface MailServerOptions {
  readonly security: "none" | "starttls" | "tls";
  readonly login?: { readonly user: string; readonly password: string };
  /** The answer to a command, in place of the usual one. */
  readonly answer?: (command: string) => string | undefined;
}

export class TestMailServer {
  readonly mails: Mail[] = [];
  /** Every command, as it came. */
  readonly commands: string[] = [];
  readonly caFile: string;
  readonly #options: MailServerOptions;
  readonly #credentials: { readonly key: string; readonly cert: string };
  #port = 0;

  private constructor(options: MailServerOptions, folder: string) {
    this.#options = options;
    this.caFile = join(folder, "cert.pem");
    const command =
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost";
    execFileSync(
      "openssl",
      [
        ...command.split(" "),
        ...["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
        ...["-keyout", join(folder, "key.pem"), "-out", this.caFile],
      ],
      { stdio: "ignore" },
    );
    this.#credentials = {
      key: readFileSync(join(folder, "key.pem"), "utf8"),
      cert: readFileSync(this.caFile, "utf8"),
    };
  }

  /** Ends with the test. */
  static async open(options: MailServerOptions): Promise<TestMailServer> {
    const folder = mkdtempSync(join(tmpdir(), "mail-"));
    const mail = new TestMailServer(options, folder);
    const sockets = new Set<Socket>();
    const take = (socket: Socket) => {
      sockets.add(socket);
      socket.on("error", () => {});
      mail.#talk(socket, options.security === "tls", true);
    };
    const server: Server =
      options.security === "tls" ? createTlsServer(mail.#credentials, take) : createServer(take);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    mail.#port = (server.address() as AddressInfo).port;
    onTestFinished(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true });
    });
    return mail;
  }

  get port(): number {
    return this.#port;
  }

  #talk(socket: Socket, encrypted: boolean, greet: boolean): void {
    const say = (text: string) => socket.write(`${text.replaceAll("\n", "\r\n")}\r\n`);
    const splitter = new LineSplitter();
    let from = "";
    let to: string[] = [];
    let user: string | undefined;
    let data: string[] | undefined;
    if (greet) say("220 test ready");
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      for (const line of splitter.push(chunk)) {
        if (data) {
          if (line !== ".") {
            data.push(line.startsWith("..") ? line.slice(1) : line);
            continue;
          }
          const [headers, text] = parse(data);
          data = undefined;
          const refusal = this.#options.answer?.("the mail");
          if (!refusal) this.mails.push({ from, to, headers, text, encrypted, user });
          say(refusal ?? "250 taken");
          continue;
        }
        this.commands.push(line);
        const own = this.#options.answer?.(line);
        if (own !== undefined) {
          if (own !== "") say(own);
        } else if (/^EHLO /.test(line)) {
          const offer = this.#options.security === "starttls" && !encrypted ? "250-STARTTLS\n" : "";
          say(`250-test\n${offer}250 AUTH PLAIN`);
        } else if (line === "STARTTLS") {
          say("220 go on");
          socket.removeAllListeners("data");
          const secure = new TLSSocket(socket, { isServer: true, ...this.#credentials });
          secure.on("error", () => {});
          this.#talk(secure, true, false);
          return;
        } else if (line.startsWith("AUTH PLAIN ")) {
          const [, name, password] = Buffer.from(line.slice(11), "base64").toString().split("\0");
          const { login } = this.#options;
          if (login && name === login.user && password === login.password) {
            user = name;
            say("235 welcome");
          } else say(`535 bad password ${password}`);
        } else if (line.startsWith("MAIL FROM:")) {
          from = line.slice(11, -1);
          to = [];
          say(this.#options.login && user === undefined ? "530 log in first" : "250 ok");
        } else if (line.startsWith("RCPT TO:")) {
          to.push(line.slice(9, -1));
          say("250 ok");
        } else if (line === "DATA") {
          data = [];
          say("354 go on");
        } else if (line === "QUIT") {
          say("221 bye");
          socket.end();
        } else say("500 what?");
      }
    });
  }
}

function parse(lines: readonly string[]): [headers: Record<string, string>, text: string] {
  const blank = lines.indexOf("");
  const headers: Record<string, string> = {};
  for (const line of lines
    .slice(0, blank)
    .join("\n")
    .replace(/\n[ \t]+/g, " ")
    .split("\n")) {
    const colon = line.indexOf(":");
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  return [headers, Buffer.from(lines.slice(blank + 1).join(""), "base64").toString()];
}
