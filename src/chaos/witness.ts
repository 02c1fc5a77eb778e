/**
 * The witness: an independent place that effects are made in, and the receiver
 * that the checker believes.
 *
 * A job's process connects, says who it is, asks, acts, and stays connected
 * until it ends, so that the kernel tells the witness of its death:
 *
 *   connected ──begin──▶ begun ──effect──▶ acted ──the connection ends──▶ ended
 *                          └──────── killed before it acted ───────────────┘
 *
 *   begin MODE JOB FIRE_TIME SHARD ATTEMPT TOKEN OWNER   →  ok | stale
 *   effect PAYLOAD                                       →  accepted | stale | repeat
 *
 * It keeps everything in the order it happened and has no unique index that
 * could hide a second delivery. It refuses two things, and counts them:
 *   stale   a newer token of the same shard has been seen (begin counts)
 *   repeat  mode `once`, and the effect is there: what a receiver that knows
 *           idempotency keys does
 */
import { createServer, type Server, type Socket } from "node:net";
import { LineSplitter } from "../base/lines.ts";
import type { Effect, Refusal, Sighting } from "./history.ts";

/** Who speaks. The owner is the executor's incarnation. */
export interface WitnessClaim {
  readonly job: string;
  readonly fireTime: string;
  readonly shardNo: number;
  readonly attempt: number;
  readonly fenceToken: number;
  readonly mode: "once" | "replace";
  readonly owner: string;
}

/** A process that is connected now. */
export interface LiveClaim extends WitnessClaim {
  /** True from the moment its effect was judged. */
  readonly acted: boolean;
}

export interface WitnessOptions {
  /** The witness's own clock: milliseconds since 1970, never stepping back. */
  readonly now: () => number;
  /**
   * How long an answer waits: to `begin` it is the work before the act, to
   * `effect` the time between the act and the process's end. Default 0.
   */
  readonly holdMs?: (claim: WitnessClaim, answered: "begin" | "effect") => number;
  /** Asked when the wait is over, again and again: true keeps the answer back for another moment. */
  readonly keepWaiting?: (claim: WitnessClaim, answered: "begin" | "effect") => boolean;
  /** Where it listens. Default: a free port of 127.0.0.1. */
  readonly address?: string;
  readonly port?: number;
}

/** Between two questions whether an answer still has to wait. */
const keepWaitingMs = 50;

interface Conversation {
  claim: WitnessClaim | undefined;
  sighting: Sighting | undefined;
  acted: boolean;
}

export class Witness {
  readonly effects: Effect[] = [];
  readonly refusals: Refusal[] = [];
  readonly sightings: Sighting[] = [];
  /** Lines that nobody should have sent; any makes the whole history doubtful. */
  readonly strange: string[] = [];
  readonly #server: Server;
  readonly #options: WitnessOptions;
  readonly #conversations = new Map<Socket, Conversation>();
  /** Newest token seen, and whether the effect is there, by shard. */
  readonly #shards = new Map<string, { newest: number; accepted: boolean }>();
  #seq = 0;

  protected constructor(options: WitnessOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#listen(socket));
  }

  /** Listens. @throws Error of the system when the address cannot be had */
  static async start(options: WitnessOptions): Promise<Witness> {
    const witness = new this(options);
    const { address: host = "127.0.0.1", port = 0 } = options;
    await new Promise<void>((resolve, reject) => {
      witness.#server.once("error", reject);
      witness.#server.listen({ host, port, backlog: 1_024 }, resolve);
    });
    return witness;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address ? address.port : 0;
  }

  /** Processes that have begun and not ended. */
  live(): LiveClaim[] {
    return [...this.#conversations.values()].flatMap(({ claim, acted }) =>
      claim ? [{ ...claim, acted }] : [],
    );
  }

  /** True once a newer claim of the same shard has been seen: whatever this one still does is refused. */
  isSuperseded(claim: WitnessClaim): boolean {
    return claim.fenceToken < this.#shardOf(claim).newest;
  }

  /** Stops listening and cuts who is still connected; what was recorded stays. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#conversations.keys()) socket.destroy();
    await closed;
  }

  #listen(socket: Socket): void {
    const conversation: Conversation = { claim: undefined, sighting: undefined, acted: false };
    this.#conversations.set(socket, conversation);
    const lines = new LineSplitter();
    socket.setEncoding("utf8").setNoDelay(true);
    socket.on("data", (text: string) => {
      for (const line of lines.push(text)) this.#hear(socket, conversation, line);
    });
    // A killed process resets or ends its connection; both are its end.
    socket.on("error", () => {});
    socket.once("close", () => {
      this.#conversations.delete(socket);
      if (conversation.sighting) conversation.sighting.until = this.#instant();
    });
  }

  #hear(socket: Socket, conversation: Conversation, line: string): void {
    const [word, ...fields] = line.split(" ");
    const known = conversation.claim;
    const claim = word === "begin" && !known ? parseClaim(fields) : undefined;
    if (claim) {
      this.#begin(socket, conversation, claim);
    } else if (word === "effect" && known && !conversation.acted && fields.length === 1) {
      conversation.acted = true;
      this.#answer(socket, known, "effect", this.#judge(known, fields[0]!));
    } else {
      this.strange.push(line.slice(0, 200));
      socket.end("strange\n");
    }
  }

  #begin(socket: Socket, conversation: Conversation, claim: WitnessClaim): void {
    const shard = this.#shardOf(claim);
    conversation.claim = claim;
    conversation.sighting = { ...key(claim), seq: ++this.#seq, from: this.#instant(), until: null };
    this.sightings.push(conversation.sighting);
    const stale = claim.fenceToken < shard.newest;
    shard.newest = Math.max(shard.newest, claim.fenceToken);
    this.#answer(socket, claim, "begin", stale ? "stale" : "ok");
  }

  #judge(claim: WitnessClaim, payload: string): "accepted" | "stale" | "repeat" {
    const shard = this.#shardOf(claim);
    const seq = ++this.#seq;
    const refused = this.refuses(claim, shard);
    if (refused) {
      this.refusals.push({ ...key(claim), seq, reason: refused });
      return refused;
    }
    shard.accepted = true;
    shard.newest = Math.max(shard.newest, claim.fenceToken);
    this.effects.push({ ...key(claim), seq, payload });
    return "accepted";
  }

  /** Why an effect is not accepted; undefined: it is. */
  protected refuses(
    claim: WitnessClaim,
    shard: { readonly newest: number; readonly accepted: boolean },
  ): Refusal["reason"] | undefined {
    if (claim.fenceToken < shard.newest) return "stale";
    return claim.mode === "once" && shard.accepted ? "repeat" : undefined;
  }

  #answer(socket: Socket, claim: WitnessClaim, answered: "begin" | "effect", word: string): void {
    const holdMs = this.#options.holdMs?.(claim, answered) ?? 0;
    const send = () => {
      if (socket.destroyed) return;
      if (this.#options.keepWaiting?.(claim, answered)) setTimeout(send, keepWaitingMs).unref();
      else socket.write(`${word}\n`);
    };
    if (holdMs > 0) setTimeout(send, holdMs).unref();
    else send();
  }

  #shardOf(claim: WitnessClaim): { newest: number; accepted: boolean } {
    const name = `${claim.job} ${claim.fireTime} ${claim.shardNo}`;
    let shard = this.#shards.get(name);
    if (!shard) {
      shard = { newest: 0, accepted: false };
      this.#shards.set(name, shard);
    }
    return shard;
  }

  #instant(): string {
    return new Date(this.#options.now()).toISOString();
  }
}

function key({ job, fireTime, shardNo, attempt, fenceToken }: WitnessClaim) {
  return { job, fireTime, shardNo, attempt, fenceToken };
}

function parseClaim(fields: readonly string[]): WitnessClaim | undefined {
  const [mode, job, fireTime, shardNo, attempt, fenceToken, owner] = fields;
  if (fields.length !== 7 || !job || !owner) return undefined;
  if (mode !== "once" && mode !== "replace") return undefined;
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(fireTime!)) return undefined;
  const numbers = [shardNo, attempt, fenceToken].map((text) =>
    /^\d{1,16}$/.test(text!) ? Number(text) : Number.NaN,
  );
  if (!numbers.every(Number.isSafeInteger)) return undefined;
  return {
    mode,
    job,
    fireTime: fireTime!,
    shardNo: numbers[0]!,
    attempt: numbers[1]!,
    fenceToken: numbers[2]!,
    owner,
  };
}

/**
 * The job, for `bash --norc -c`: bash, because it starts in 2 ms and speaks TCP without help.
 * Needs WITNESS_PORT and WITNESS_MODE in its environment.
 * Exit codes: 0 the effect is there; 75 the witness did not answer; 76 refused as stale.
 */
export const witnessJob = `
exec 3<>"/dev/tcp/127.0.0.1/$WITNESS_PORT" || exit 75
ask() { printf '%s\\n' "$1" >&3 || exit 75; IFS= read -r answer <&3 || exit 75; }
ask "begin $WITNESS_MODE $ESCAPEMENT_JOB $ESCAPEMENT_FIRE_TIME $ESCAPEMENT_SHARD_NO $ESCAPEMENT_ATTEMPT $ESCAPEMENT_FENCE_TOKEN $ESCAPEMENT_INCARNATION"
# It acts even when told that it is stale: the fence must hold without its help.
ask "effect $ESCAPEMENT_IDEMPOTENCY_KEY/$ESCAPEMENT_SHARD_NO"
case $answer in accepted|repeat) exit 0 ;; *) exit 76 ;; esac
`;
