/**
 * What a probe's process does: it tells the witness who it is, waits for the
 * answer, makes its effect, and stays connected until it ends.
 */
import { createConnection, type Socket } from "node:net";
import { LineSplitter } from "../../base/lines.ts";

/** The witness did not answer; the shard is tried again. */
export const noWitness = 75;
/** The effect was refused as stale. */
export const refusedAsStale = 76;
/** Environment that the executor or the job file should have given is missing. */
export const wrongEnvironment = 64;

const connectLimitMs = 10_000;

/**
 * Speaks to the witness as one attempt. It never connects twice: a connection
 * is one life, and the witness tells lives apart by it.
 * @param environment WITNESS_HOST, WITNESS_PORT, WITNESS_MODE and what an executor gives every attempt
 * @returns the exit code: 0, {@link noWitness}, {@link refusedAsStale} or {@link wrongEnvironment}
 */
export async function speakToWitness(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const fields = [
    environment.WITNESS_MODE,
    environment.ESCAPEMENT_JOB,
    environment.ESCAPEMENT_FIRE_TIME,
    environment.ESCAPEMENT_SHARD_NO,
    environment.ESCAPEMENT_ATTEMPT,
    environment.ESCAPEMENT_FENCE_TOKEN,
    environment.ESCAPEMENT_INCARNATION,
  ];
  const key = environment.ESCAPEMENT_IDEMPOTENCY_KEY;
  const port = Number(environment.WITNESS_PORT);
  if (fields.some((field) => !field || field.includes(" ")) || !key || !Number.isInteger(port))
    return wrongEnvironment;
  const socket = await connect(environment.WITNESS_HOST ?? "127.0.0.1", port);
  if (!socket) return noWitness;
  const answers = new Answers(socket);
  try {
    socket.write(`begin ${fields.join(" ")}\n`);
    if ((await answers.next()) === undefined) return noWitness;
    // It acts even when told that it is stale: the fence must hold without its help.
    socket.write(`effect ${key.replaceAll(" ", "_")}/${environment.ESCAPEMENT_SHARD_NO}\n`);
    const answer = await answers.next();
    if (answer === undefined) return noWitness;
    return answer === "accepted" || answer === "repeat" ? 0 : refusedAsStale;
  } finally {
    socket.destroy();
  }
}

function connect(host: string, port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port, noDelay: true, keepAlive: true });
    const timer = setTimeout(() => socket.destroy(new Error("timeout")), connectLimitMs);
    socket.once("connect", () => {
      clearTimeout(timer);
      resolve(socket);
    });
    socket.once("error", () => {
      clearTimeout(timer);
      resolve(undefined);
    });
  });
}

class Answers {
  readonly #lines: string[] = [];
  #waiting: ((line: string | undefined) => void) | undefined;
  #ended = false;

  constructor(socket: Socket) {
    const splitter = new LineSplitter();
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      this.#lines.push(...splitter.push(text));
      this.#serve();
    });
    socket.on("error", () => {});
    socket.once("close", () => {
      this.#ended = true;
      this.#serve();
    });
  }

  next(): Promise<string | undefined> {
    return new Promise((resolve) => {
      this.#waiting = resolve;
      this.#serve();
    });
  }

  #serve(): void {
    if (!this.#waiting || (this.#lines.length === 0 && !this.#ended)) return;
    const resolve = this.#waiting;
    this.#waiting = undefined;
    resolve(this.#lines.shift());
  }
}
