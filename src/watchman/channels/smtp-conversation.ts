/**
 * The talk with a mail server, as far as handing over one mail needs it.
 *
 *   connect ─▶ greeting ─▶ EHLO ─▶ (STARTTLS ─▶ EHLO) ─▶ (AUTH PLAIN) ─▶ MAIL, RCPT, DATA ─▶ QUIT
 *
 * Everything together must be done within the time limit. A login is sent
 * only over TLS whose certificate was checked.
 */
import { connect as connectPlain, type Socket } from "node:net";
import { hostname } from "node:os";
import { connect as connectTls } from "node:tls";
import { LineSplitter } from "../../base/lines.ts";

export interface MailServer {
  readonly host: string;
  readonly port: number;
  readonly security: "none" | "starttls" | "tls";
  readonly timeoutMs: number;
}

/** The server has said no. */
export class SmtpRefusal extends Error {
  /** @param final true: it will say no to this mail again */
  constructor(
    what: string,
    readonly final: boolean,
  ) {
    super(what);
  }
}

interface Reply {
  readonly code: number;
  readonly lines: readonly string[];
}

export class SmtpConversation {
  readonly #server: MailServer;
  readonly #ca: string | undefined;
  readonly #timer: NodeJS.Timeout;
  #socket: Socket | undefined;
  #encrypted = false;
  #lines: string[] = [];
  #waiting: { resolve(reply: Reply): void; reject(error: Error): void } | undefined;
  #failed: Error | undefined;

  constructor(server: MailServer, ca: string | undefined) {
    this.#server = server;
    this.#ca = ca;
    this.#timer = setTimeout(
      () => this.#fail(new Error(`not done within ${server.timeoutMs} ms`)),
      server.timeoutMs,
    );
  }

  /** Up to the point where a mail can be handed over. */
  async begin(): Promise<void> {
    const { host, port, security } = this.#server;
    if (security === "tls") this.#listen(await this.#secure(undefined));
    else this.#listen(connectPlain({ host, port }));
    await this.#expect("greeting", 220);
    const offers = await this.#greet();
    if (security !== "starttls") return;
    if (!offers.some((line) => /^starttls$/i.test(line)))
      throw new SmtpRefusal("the server does not offer STARTTLS", false);
    await this.#command("STARTTLS", 220);
    if (this.#lines.length > 0)
      throw new SmtpRefusal("the server went on in plain text after STARTTLS", false);
    const plain = this.#socket!;
    plain.removeAllListeners("data");
    this.#listen(await this.#secure(plain));
    await this.#greet();
  }

  async login(user: string, password: string): Promise<void> {
    if (!this.#encrypted) throw new SmtpRefusal("a password is not sent without TLS", false);
    const token = Buffer.from(`\0${user}\0${password}`).toString("base64");
    await this.#command(`AUTH PLAIN ${token}`, 235, "AUTH PLAIN");
  }

  /** Hands over one mail. Nothing is sent unless every receiver is accepted. */
  async hand(from: string, to: readonly string[], mail: string): Promise<void> {
    await this.#command(`MAIL FROM:<${from}>`, 250);
    for (const one of to) await this.#command(`RCPT TO:<${one}>`, 250);
    await this.#command("DATA", 354);
    await this.#command(`${mail.replace(/^\./gm, "..")}.`, 250, "the mail");
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#socket?.on("error", () => {});
    if (!this.#failed) this.#socket?.write("QUIT\r\n");
    this.#socket?.end();
    this.#socket?.destroySoon();
  }

  async #greet(): Promise<readonly string[]> {
    const name = /^[A-Za-z0-9.-]+$/.test(hostname()) ? hostname() : "localhost";
    return (await this.#command(`EHLO ${name}`, 250)).lines;
  }

  /** @param plain the connection that becomes secure; undefined: a new one */
  #secure(plain: Socket | undefined): Promise<Socket> {
    const { host, port } = this.#server;
    return new Promise((resolve, reject) => {
      const socket = connectTls({
        ...(plain ? { socket: plain } : { host, port }),
        ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
        ...(this.#ca !== undefined && { ca: this.#ca }),
      });
      socket.once("secureConnect", () => {
        socket.off("error", reject);
        this.#encrypted = true;
        resolve(socket);
      });
      socket.once("error", reject);
      this.#socket = socket;
    });
  }

  #listen(socket: Socket): void {
    const splitter = new LineSplitter(4_096);
    this.#socket = socket;
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      this.#lines.push(...splitter.push(text));
      this.#answer();
    });
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => this.#fail(new Error("the server closed the connection")));
  }

  #fail(error: Error): void {
    this.#failed ??= error;
    this.#waiting?.reject(this.#failed);
    this.#waiting = undefined;
    this.#socket?.destroy();
  }

  /** A reply is complete with the line that has no dash after its code. */
  #answer(): void {
    const last = this.#lines.findIndex((line) => /^\d{3}(?!-)/.test(line));
    if (last < 0 || !this.#waiting) return;
    const lines = this.#lines.splice(0, last + 1);
    const { resolve } = this.#waiting;
    this.#waiting = undefined;
    resolve({ code: Number(lines[last]!.slice(0, 3)), lines: lines.map((line) => line.slice(4)) });
  }

  async #command(line: string, code: number, what = line): Promise<Reply> {
    if (/[\r\n]/.test(what)) throw new SmtpRefusal("a line end inside of an address", true);
    this.#socket!.write(`${line}\r\n`);
    return await this.#expect(what, code);
  }

  async #expect(what: string, code: number): Promise<Reply> {
    const reply = await new Promise<Reply>((resolve, reject) => {
      if (this.#failed) return reject(this.#failed);
      this.#waiting = { resolve, reject };
      this.#answer();
    });
    if (reply.code === code) return reply;
    throw new SmtpRefusal(
      `${what}: ${reply.code} ${reply.lines.join(" ")}`,
      reply.code >= 550 && reply.code < 560,
    );
  }
}
