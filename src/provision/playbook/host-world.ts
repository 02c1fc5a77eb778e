/**
 * What actions and checks reach hosts by. One connection a host, made when it
 * is first needed; a lost one is made anew. The store is always asked through a
 * host that has the toolkit: the controller needs no way to the database.
 */
import { EscapementError, isEscapementError } from "../../base/errors.ts";
import { monotonicMs } from "../../base/monotonic.ts";
import type { Connect, ExecRequest, ExecResult, Remote, UploadRequest } from "../../remote/remote.ts";
import type { InventoryDefinition, InventoryHost, SettingValue } from "../../spec/inventory-definition.ts";
import type { Release } from "../deploy/release.ts";
import type { PlaybookHost } from "./registry.ts";

/** What a plan of one host comes to. */
export interface ProfileState {
  readonly changes: number;
  readonly pendingRestarts: number;
  /** Resources that could not be judged, one sentence each. */
  readonly unknowns: readonly string[];
  /** What is wrong and not for apply to put right, one sentence each. */
  readonly leftToOthers: readonly string[];
  /** Transactions that are neither confirmed nor put back: the host may yet become what it was before. */
  readonly unfinished: readonly string[];
}

/** Plan and apply of one host's profile. */
export interface ProfileService {
  plan(host: string, remote: Remote): Promise<ProfileState>;
  /** @returns how many changes were made @throws what keeps the host from being applied */
  apply(host: string, remote: Remote, signal: AbortSignal): Promise<ProfileState>;
}

export interface HostWorldOptions {
  readonly inventory: InventoryDefinition;
  readonly hosts: readonly PlaybookHost[];
  readonly connect: Connect;
  readonly profiles: ProfileService;
  /** Built once, when the first host needs it. */
  readonly release: () => Promise<Release>;
  /** Written into the store's records beside what is done by hand. */
  readonly reason: string;
  readonly person: string;
}

const commandDeadlineMs = 60_000;
/** A host that did not answer costs a whole connection timeout; others are asked first for this long. */
const silenceMs = 30_000;

export class HostWorld {
  readonly inventory: InventoryDefinition;
  readonly hosts: readonly PlaybookHost[];
  readonly profiles: ProfileService;
  readonly reason: string;
  readonly person: string;
  readonly #connect: Connect;
  readonly #makeRelease: () => Promise<Release>;
  #release: Promise<Release> | undefined;
  readonly #connections = new Map<string, Promise<Remote>>();
  readonly #silentSinceMs = new Map<string, number>();

  constructor(options: HostWorldOptions) {
    this.inventory = options.inventory;
    this.hosts = options.hosts;
    this.profiles = options.profiles;
    this.reason = options.reason;
    this.person = options.person;
    this.#connect = options.connect;
    this.#makeRelease = options.release;
  }

  release(): Promise<Release> {
    this.#release ??= this.#makeRelease();
    return this.#release;
  }

  /** @throws E_HOST_UNKNOWN for a host that the inventory does not have */
  hostOf(name: string): InventoryHost {
    const found = this.inventory.hosts.find((host) => host.name === name);
    if (!found)
      throw new EscapementError("E_HOST_UNKNOWN", {
        host: name,
        inventory: this.inventory.file,
        suggestion: "",
      });
    return found;
  }

  setting(host: string, name: string): SettingValue | undefined {
    return this.hostOf(host).settings[name];
  }

  /** The open connection of a host. */
  remote(host: string): Promise<Remote> {
    let connection = this.#connections.get(host);
    if (!connection) {
      connection = this.#connect(this.hostOf(host).target);
      this.#connections.set(host, connection);
      connection.then(
        () => this.#silentSinceMs.delete(host),
        () => {
          this.#connections.delete(host);
          this.#silentSinceMs.set(host, monotonicMs());
        },
      );
    }
    return connection;
  }

  /** It could not be reached a moment ago. */
  isSilent(host: string): boolean {
    const since = this.#silentSinceMs.get(host);
    return since !== undefined && monotonicMs() - since < silenceMs;
  }

  /** Forgets a connection, so that the next use makes a fresh one. */
  async disconnect(host: string): Promise<void> {
    const connection = this.#connections.get(host);
    this.#connections.delete(host);
    await connection?.then((remote) => remote.close()).catch(() => {});
  }

  /**
   * Runs a command as root. One that only looks is tried again over a fresh
   * connection when the first was lost.
   */
  async run(
    host: string,
    argv: readonly string[],
    options: Partial<Pick<ExecRequest, "stdin" | "deadlineMs">> & { readonly looks?: boolean } = {},
  ): Promise<ExecResult> {
    const { looks, ...rest } = options;
    const request: ExecRequest = { argv, asRoot: true, deadlineMs: commandDeadlineMs, ...rest };
    try {
      return await (await this.remote(host)).exec(request);
    } catch (error) {
      await this.disconnect(host);
      if (!looks || !isLoss(error)) throw error;
      return (await this.remote(host)).exec(request);
    }
  }

  async upload(host: string, request: UploadRequest): Promise<void> {
    await (await this.remote(host)).upload(request);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.keys()].map((host) => this.disconnect(host)));
  }
}

function isLoss(error: unknown): boolean {
  return isEscapementError(error) && error.code === "E_HOST_LOST";
}
