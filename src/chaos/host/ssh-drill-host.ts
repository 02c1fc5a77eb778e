/** A host's drills over ssh: its forced command, the five words it knows, and orders signed with the drill key. */
import { EscapementError } from "../../base/errors.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import type { Connect, ExecResult, Remote, RemoteTarget } from "../../remote/remote.ts";
import type {
  DrillHost,
  DrillOrder,
  DrillProgress,
  HostLook,
  Peer,
  PeerAnswer,
  ResidueAudit,
} from "./drill-host.ts";
import type { DrillKey } from "./drill-key.ts";
import { orderText, signedOrder } from "./order-text.ts";
import { readAudit, readHalt, readLook, readProgress, readReach, readTime } from "./read-answer.ts";

/** Who drills log in as. */
export const drillUser = "escapement-drill";
/** The host's exit code for "no". */
const refusedCode = 10;
/** An order is used at once; it waits only where a host is slow. */
const orderValidMs = 2 * 60_000;

export interface SshDrillHostOptions {
  readonly key: DrillKey;
  readonly connect: Connect;
  /** How the inventory reaches the host; user and key are the drill's own. */
  readonly target: RemoteTarget;
  /** Of one command. Default 30 s. */
  readonly deadlineMs?: number;
}

/** The host as drills reach it: same address, way and host keys; another user, another key. */
export function drillTarget(target: RemoteTarget, key: DrillKey): RemoteTarget {
  const { sudoPasswordFile: _, defaulted, ...rest } = target;
  return {
    ...rest,
    user: drillUser,
    identityFiles: [key.file],
    ...(defaulted && { defaulted: defaulted.filter((one) => one !== "user") }),
  };
}

export class SshDrillHost implements DrillHost {
  readonly host: string;
  readonly #options: SshDrillHostOptions;
  #remote: Promise<Remote> | undefined;

  constructor(options: SshDrillHostOptions) {
    this.host = options.target.host;
    this.#options = options;
  }

  async look(units: readonly string[], paths: readonly string[] = []): Promise<HostLook> {
    const words = [...units.map((unit) => `unit=${unit}`), ...paths.map((path) => `path=${path}`)];
    const look = readLook(this.host, await this.#ask(["look", ...words]));
    return { ...look, ...(await this.#time()) };
  }

  async reach({ address, port }: Peer): Promise<PeerAnswer> {
    return readReach(this.host, await this.#ask(["look", `reach=${address},${port}`]));
  }

  async begin(order: DrillOrder): Promise<void> {
    const { bootMs } = await this.#time();
    const text = orderText(order, { bootMs, validMs: orderValidMs, issuedMs: Date.now() });
    await this.#ask(["begin"], signedOrder(text, this.#options.key));
  }

  async progress(run: string, afterSeq = 0): Promise<DrillProgress> {
    return readProgress(this.host, await this.#ask(["progress", run, String(afterSeq)]), afterSeq);
  }

  async halt(): Promise<{ readonly halted: boolean; readonly restoredMs: number }> {
    return readHalt(this.host, await this.#ask(["halt"]));
  }

  async audit(): Promise<ResidueAudit> {
    return readAudit(this.host, await this.#ask(["audit"]));
  }

  async close(): Promise<void> {
    const remote = await this.#remote?.catch(() => undefined);
    this.#remote = undefined;
    await remote?.close();
  }

  /** The host's clocks; the best of two trips, each wrong by at most half of itself. */
  async #time(): Promise<{ wallMs: number; bootMs: number; uncertaintyMs: number }> {
    const trips = [];
    for (let i = 0; i < 2; i += 1) {
      const startedMs = monotonicMs();
      const time = readTime(this.host, await this.#ask(["look", "time"]));
      trips.push({ ...time, uncertaintyMs: (monotonicMs() - startedMs) / 2 });
    }
    return trips.reduce((best, one) => (one.uncertaintyMs <= best.uncertaintyMs ? one : best));
  }

  /** One word and its answer. A connection that is lost is made anew once, since every word but `begin` may be said twice. */
  async #ask(argv: readonly string[], stdin?: string): Promise<string> {
    const once = async (): Promise<ExecResult> => {
      this.#remote ??= this.#options.connect(drillTarget(this.#options.target, this.#options.key));
      const mine = this.#remote;
      try {
        const remote = await mine;
        return await remote.exec({
          argv,
          forced: true,
          deadlineMs: this.#options.deadlineMs ?? 30_000,
          ...(stdin !== undefined && { stdin }),
        });
      } catch (error) {
        if (this.#remote === mine) this.#remote = undefined;
        mine.then((remote) => remote.close()).catch(() => {});
        throw error;
      }
    };
    let result: ExecResult;
    try {
      result = await once();
    } catch (error) {
      const lost = error instanceof EscapementError && error.code === "E_HOST_LOST";
      if (!lost || stdin !== undefined) throw error;
      result = await once();
    }
    if (result.exitCode === 0) return result.stdout;
    const reason = /^refused (.*)$/m.exec(result.stdout)?.[1];
    if (result.exitCode === refusedCode && reason !== undefined)
      throw new EscapementError("E_DRILL_REFUSED", { host: this.host, reason });
    const said = `${result.stdout}\n${result.stderr}`.trim().split("\n").at(-1) ?? "";
    throw new EscapementError("E_DRILL_REFUSED", {
      host: this.host,
      reason: `its program for drills ended with ${result.exitCode ?? result.signal}: ${said}`,
    });
  }
}
