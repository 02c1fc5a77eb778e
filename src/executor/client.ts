/**
 * For the author of a job: who this attempt is, and a line to the executor that
 * runs it. Works in any process that the executor started.
 */
import { createConnection, type Socket } from "node:net";
import { z } from "zod";
import { EscapementError, messageOf } from "../base/errors.ts";
import { parseInstant } from "../base/instant.ts";
import { LineSplitter } from "../base/lines.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What the executor tells every attempt; see docs/executor.md. */
export interface CurrentAttempt {
  /** `namespace/name`. */
  readonly job: string;
  readonly fireTime: Date;
  /** The business period, where the job declares one. */
  readonly period: string | undefined;
  /** 0 to shardCount − 1; −1 is the step that freezes the input. */
  readonly shardNo: number;
  readonly shardCount: number;
  /** Counts every start of this shard, from 1. */
  readonly attempt: number;
  /** Grows with every claim; to be compared as a number by whoever guards a resource. */
  readonly fenceToken: bigint;
  readonly executionId: string;
  readonly runNo: number;
  /** The same for every attempt; append your own business key. */
  readonly idempotencyKey: string;
  readonly timeZone: string;
}

/** Reads the attempt from the environment. @throws E_UNAVAILABLE outside of an executor */
export function currentAttempt(environment: Environment = process.env): CurrentAttempt {
  const need = (name: string): string => {
    const value = environment[name];
    if (value === undefined) throw notInAttempt(name);
    return value;
  };
  return {
    job: need("ESCAPEMENT_JOB"),
    fireTime: parseInstant(need("ESCAPEMENT_FIRE_TIME")),
    period: environment.ESCAPEMENT_PERIOD,
    shardNo: Number(need("ESCAPEMENT_SHARD_NO")),
    shardCount: Number(need("ESCAPEMENT_SHARD_COUNT")),
    attempt: Number(need("ESCAPEMENT_ATTEMPT")),
    fenceToken: BigInt(need("ESCAPEMENT_FENCE_TOKEN")),
    executionId: need("ESCAPEMENT_EXECUTION_ID"),
    runNo: Number(need("ESCAPEMENT_RUN_NO")),
    idempotencyKey: need("ESCAPEMENT_IDEMPOTENCY_KEY"),
    timeZone: need("ESCAPEMENT_TIME_ZONE"),
  };
}

const answerShape = z.looseObject({ ok: z.boolean(), error: z.string().optional() });
const heldShape = z.object({ held: z.boolean() });
const checkpointShape = z.object({ checkpoint: z.string().nullable(), rows: z.number().nullable() });
const keysShape = z.object({ keys: z.array(z.string()) });

/** The line to the executor. Requests are answered in order. */
export class ExecutorLine {
  readonly #socket: Socket;
  readonly #waiting: { resolve: (answer: unknown) => void; reject: (error: unknown) => void }[] = [];
  #closed: Error | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const lines = new LineSplitter();
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => {
      for (const line of lines.push(text)) this.#hear(line);
    });
    const fail = (error: Error) => {
      this.#closed ??= error;
      for (const one of this.#waiting.splice(0)) one.reject(this.#closed);
    };
    socket.on("error", (error) => fail(unreachable(error)));
    socket.on("close", () => fail(unreachable("it closed the line")));
  }

  /** @throws E_UNAVAILABLE outside of an executor, or when it does not answer */
  static async open(environment: Environment = process.env): Promise<ExecutorLine> {
    const address = environment.ESCAPEMENT_SOCKET;
    const match = /^(.*)\?token=(.+)$/.exec(address ?? "");
    if (!match) throw notInAttempt("ESCAPEMENT_SOCKET");
    const socket = createConnection(match[1]!);
    const line = new ExecutorLine(socket);
    await line.#ask({ token: match[2] }, answerShape);
    return line;
  }

  /** Rows done so far in this attempt; the last report counts and is recorded with the outcome. */
  async rows(count: number): Promise<void> {
    await this.#ask({ rows: count }, answerShape);
  }

  /**
   * Keeps a place for the next attempt, in the record store, under this attempt's fence token.
   * @returns false when the shard is someone else's now: stop.
   */
  async checkpoint(place: string, rows?: number): Promise<boolean> {
    const answer = await this.#ask({ checkpoint: place, ...(rows === undefined ? {} : { rows }) }, heldShape);
    return answer.held;
  }

  /** The place that an earlier attempt (or this one) kept; null when none did. */
  async readCheckpoint(): Promise<{ place: string | null; rows: number | null }> {
    const answer = await this.#ask({ get: "checkpoint" }, checkpointShape);
    return { place: answer.checkpoint, rows: answer.rows };
  }

  /** The business keys of this shard. @throws E_REFUSED for shards by hash of ordinary keys */
  async keys(): Promise<readonly string[]> {
    return (await this.#ask({ get: "keys" }, keysShape)).keys;
  }

  /** Whether the store still counts this attempt as the holder of its shard. */
  async holding(): Promise<boolean> {
    return (await this.#ask({ hold: true }, heldShape)).held;
  }

  /** A line for the job's log. */
  async log(text: string): Promise<void> {
    await this.#ask({ log: text }, answerShape);
  }

  close(): void {
    this.#socket.end();
  }

  #ask<T>(request: Record<string, unknown>, shape: z.ZodType<T>): Promise<T> {
    if (this.#closed) return Promise.reject(this.#closed);
    return new Promise<unknown>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#socket.write(`${JSON.stringify(request)}\n`);
    }).then((answer) => {
      const { ok, error } = answerShape.parse(answer);
      if (!ok)
        throw new EscapementError("E_REFUSED", {
          what: error ?? "no reason given",
          hint: "see docs/executor.md",
        });
      return shape.parse(answer);
    });
  }

  #hear(line: string): void {
    const one = this.#waiting.shift();
    try {
      one?.resolve(JSON.parse(line));
    } catch (error) {
      one?.reject(unreachable(error));
    }
  }
}

function notInAttempt(name: string): EscapementError {
  return new EscapementError("E_UNAVAILABLE", {
    what: `${name} is not set: this is not an attempt of a job`,
    hint: "the executor sets it for the commands of jobs",
  });
}

function unreachable(reason: unknown): EscapementError {
  return new EscapementError(
    "E_UNAVAILABLE",
    {
      what: `the executor does not answer: ${typeof reason === "string" ? reason : messageOf(reason)}`,
      hint: "an attempt without its executor is about to be killed",
    },
    typeof reason === "string" ? {} : { cause: reason },
  );
}
