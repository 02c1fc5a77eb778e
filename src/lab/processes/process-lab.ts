/** A lab of processes, as the commands see it: they ask its keeper, and end it by force where it does not answer. */
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { EscapementError, isEscapementError } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { labNames } from "../hosts/take-down.ts";
import type { Lab, LabCut, LabHostStatus, LabOverview } from "../lab.ts";
import { packageRoot } from "../package-root.ts";
import { findClockLibrary, processClockLabel } from "../process-clock.ts";
import { clusterFileName } from "./keeper.ts";
import { LabFolder, processLabNames } from "./lab-folder.ts";
import { askKeeper, type LabAnswer, type LabNode, type LabRequest } from "./request.ts";
import { isSameProcess } from "./same-process.ts";

export { processLabNames };

const upLimitMs = 120_000;
/** Executors get two seconds each to end their children in order. */
const downLimitMs = 30_000;

export interface ProcessLabOptions {
  readonly name: string;
  /** Where the cluster's file goes. */
  readonly folder: string;
  readonly say: (text: string) => void;
  readonly signal?: AbortSignal;
}

export class ProcessLab implements Lab {
  readonly name: string;
  readonly #folder: LabFolder;

  private constructor(folder: LabFolder) {
    this.name = folder.name;
    this.#folder = folder;
  }

  /**
   * Starts the keeper in a session of its own and waits until every node serves.
   * @throws E_LAB_EXISTS, E_LAB_STEP with the end of the keeper's log
   */
  static async up({ name, folder, say, signal }: ProcessLabOptions): Promise<ProcessLab> {
    const place = new LabFolder(name);
    if (labNames().includes(name)) throw new EscapementError("E_LAB_EXISTS", { name });
    const outputFolder = resolve(folder);
    const file = join(outputFolder, clusterFileName);
    place.claim();
    if (existsSync(file)) {
      place.remove();
      throw new EscapementError("E_LAB_STEP", { step: "lab up", reason: `${file} is there already` });
    }
    mkdirSync(outputFolder, { recursive: true });
    say("starting PostgreSQL, two schedulers and three executors");
    const log = openSync(place.log, "a", 0o600);
    const program = join(packageRoot() ?? ".", "bin/escapement.mjs");
    const keeper = spawn(process.execPath, [program, "lab", "keep", "--name", name, "-o", outputFolder], {
      detached: true,
      cwd: "/",
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    const deadline = monotonicMs() + upLimitMs;
    const ended = () => keeper.exitCode !== null || keeper.signalCode !== null || keeper.pid === undefined;
    let lastWords = "";
    keeper.once("error", (error) => {
      lastWords = error.message;
    });
    try {
      while (place.read()?.phase !== "up") {
        signal?.throwIfAborted();
        if (existsSync(place.log)) lastWords = readFileSync(place.log, "utf8").trim();
        if (ended() || monotonicMs() > deadline)
          throw new EscapementError("E_LAB_STEP", {
            step: "starting the processes",
            reason: lastWords.slice(-1_000) || "the lab's keeper said nothing",
          });
        await sleep(50);
      }
    } catch (error) {
      if (!ended()) keeper.kill("SIGTERM");
      while (!ended() && monotonicMs() < deadline + downLimitMs) await sleep(50);
      place.remove();
      throw error;
    }
    keeper.unref();
    return new ProcessLab(place);
  }

  static find(name: string): ProcessLab {
    const folder = new LabFolder(name);
    if (folder.read() === undefined) throw new EscapementError("E_LAB_MISSING", { name });
    return new ProcessLab(folder);
  }

  static async overview(name: string): Promise<LabOverview> {
    const folder = new LabFolder(name);
    const state = folder.read();
    const unfinished = { name, tier: "process" as const, condition: "unfinished" as const, hosts: [] };
    if (!state || !(await isSameProcess(state.keeper))) return unfinished;
    if (state.phase === "starting") return { ...unfinished, condition: "starting" };
    const clusterFile = join(state.outputFolder, clusterFileName);
    const hosts = await new ProcessLab(folder).status();
    return { ...unfinished, condition: "up", clusterFile, hosts };
  }

  /** Leaves nothing, also where the keeper was killed or hangs. @throws E_LAB_STEP when it cannot be ended */
  static async takeDown(name: string): Promise<void> {
    const folder = new LabFolder(name);
    const state = folder.read();
    if (state && (await isSameProcess(state.keeper))) {
      const { pid } = state.keeper;
      await askKeeper(folder.socket, { ask: "down" }, 5_000).catch((error: unknown) => {
        if (!isEscapementError(error)) throw error;
      });
      // Before its socket is there, and when it does not answer, a signal says the same.
      const steps = [
        ["SIGTERM", downLimitMs],
        ["SIGKILL", 10_000],
      ] as const;
      for (const [signal, limitMs] of steps) {
        if (!(await isSameProcess(state.keeper))) break;
        process.kill(pid, signal);
        const deadline = monotonicMs() + limitMs;
        while ((await isSameProcess(state.keeper)) && monotonicMs() < deadline) await sleep(50);
      }
      if (await isSameProcess(state.keeper))
        throw new EscapementError("E_LAB_STEP", { step: "lab down", reason: `process ${pid} survives` });
    }
    if (state) rmSync(join(state.outputFolder, clusterFileName), { force: true });
    folder.remove();
  }

  async status(): Promise<LabHostStatus[]> {
    const { nodes = [] } = await this.#ask({ ask: "status" });
    return nodes.map(({ name, address, role, on, clockOffsetSeconds, cut }) => ({
      name,
      address,
      profile: role,
      machine: "process",
      power: on ? "on" : "off",
      clockOffsetSeconds,
      cuts: cut ? [{ direction: cut, peers: [] }] : [],
    }));
  }

  async attach(host: string): Promise<number> {
    const { logFile } = await this.#node(host);
    throw tierError(
      `${host} is a process, and nothing runs inside it`,
      `run the command here, with --cluster ${join(this.#output, clusterFileName)}${logFile ? `; its log is ${logFile}` : ""}`,
    );
  }

  async cut(host: string, { direction = "both", peers = [] }: LabCut): Promise<void> {
    await this.#node(host);
    if (host === "store")
      throw tierError("the store's network is that of the nodes", "cut the nodes, or power the store off");
    if (peers.some((peer) => peer !== "store"))
      throw tierError("a process has one network only, to the store", "leave --from out");
    await this.#ask({ ask: "cut", node: host, receiveOnly: direction === "receive" });
  }

  async heal(host?: string): Promise<void> {
    if (host !== undefined) await this.#node(host);
    await this.#ask({ ask: "heal", ...(host !== undefined && host !== "store" && { node: host }) });
  }

  async powerOff(host: string): Promise<void> {
    await this.#node(host);
    await this.#ask({ ask: "power", node: host, on: false });
  }

  async powerOn(host: string): Promise<void> {
    await this.#node(host);
    await this.#ask({ ask: "power", node: host, on: true }, 90_000);
  }

  /** The clock of the process and of what it starts, and no other: see {@link processClockLabel}. */
  async clock(host: string, offsetSeconds: number): Promise<void> {
    await this.#node(host);
    if (findClockLibrary() === undefined)
      throw tierError(
        `a ${processClockLabel} needs libfaketime, which is not here`,
        "on Debian: apt-get install libfaketime, then put the lab up again",
      );
    await this.#ask({ ask: "clock", node: host, offsetSeconds });
  }

  get #output(): string {
    return this.#folder.read()?.outputFolder ?? ".";
  }

  async #node(host: string): Promise<LabNode> {
    const { nodes = [] } = await this.#ask({ ask: "status" });
    const found = nodes.find(({ name }) => name === host);
    if (found) return found;
    const hosts = nodes.map(({ name }) => name).join(", ");
    throw new EscapementError("E_LAB_HOST", { name: this.name, host, hosts });
  }

  async #ask(request: LabRequest, deadlineMs = 30_000): Promise<LabAnswer> {
    const answer = await askKeeper(this.#folder.socket, request, deadlineMs);
    if (answer) return answer;
    throw new EscapementError("E_LAB_STEP", {
      step: request.ask,
      reason: `the process that keeps lab ${this.name} is gone or not ready yet`,
    });
  }
}

function tierError(reason: string, hint: string): EscapementError {
  return new EscapementError("E_LAB_TIER", { tier: "process", reason, hint });
}
