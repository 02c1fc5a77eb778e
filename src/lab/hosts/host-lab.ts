/** A lab of real hosts: what tests, drills and the command line use. */
import { EscapementError } from "../../base/errors.ts";
import { guestRuns, killGuest, powerOnGuest, runOnGuest, setGuestClock } from "../vm/lab-guest.ts";
import { setHostClock } from "./host-clock.ts";
import { insideHost, killHost, leaderOf, startHost, waitForHost } from "./host-machine.ts";
import { applyCuts, controllerPeer, plugIn, removeHostNamespace, timePeer, unplug } from "./lab-network.ts";
import { LabPlace } from "./lab-place.ts";
import {
  changeState,
  hostNamed,
  type LabHost,
  type LabState,
  type NetworkCut,
  readState,
} from "./lab-state.ts";
import { outputFile } from "./output-files.ts";
import { attachProgram, type ProgramOptions, type ProgramResult, runProgram } from "./run-program.ts";
import { type LabOptions, startLab } from "./start-lab.ts";
import { takeDown } from "./take-down.ts";

export interface HostStatus extends LabHost {
  readonly power: "on" | "off";
  readonly clockOffsetSeconds: number;
  readonly cuts: readonly Omit<NetworkCut, "host">[];
}

export class HostLab {
  readonly #place: LabPlace;

  private constructor(place: LabPlace) {
    this.#place = place;
  }

  /** Puts a lab up: all hosts answer by ssh. What was made is taken away when it fails. @throws E_LAB_* */
  static async up(options: LabOptions): Promise<HostLab> {
    return new HostLab(await startLab(options));
  }

  /** A lab that another process put up. @throws E_LAB_MISSING */
  static find(name: string): HostLab {
    const place = new LabPlace(name);
    readState(place);
    return new HostLab(place);
  }

  get name(): string {
    return this.#place.name;
  }

  get hosts(): readonly LabHost[] {
    return this.state.hosts;
  }

  get state(): LabState {
    return readState(this.#place);
  }

  get inventoryFile(): string {
    return outputFile(this.state.outputFolder, "inventory");
  }

  get knownHostsFile(): string {
    return outputFile(this.state.outputFolder, "knownHosts");
  }

  get identityFile(): string {
    return outputFile(this.state.outputFolder, "key");
  }

  /** Holds what sudo asks the user `ops` for, and a line end. */
  get opsPasswordFile(): string {
    return outputFile(this.state.outputFolder, "opsPassword");
  }

  /** Runs a command as root inside the host, past its network. A code other than 0 is a result. @throws E_LAB_HOST_OFF */
  async exec(host: string, argv: readonly string[], options: ProgramOptions = {}): Promise<ProgramResult> {
    if (this.#isVirtual(host)) return runOnGuest(this.#place, host, argv, options);
    return runProgram([...this.insideHost(host), ...argv], options);
  }

  /** The same with our own standard streams. @returns the exit code; 128 and the number of the signal that ended it */
  async attach(host: string, argv: readonly string[]): Promise<number> {
    if (this.#isVirtual(host)) {
      const { code, stdout, stderr } = await this.exec(host, argv, { deadlineMs: 3_600_000 });
      process.stdout.write(stdout);
      process.stderr.write(stderr);
      return code ?? 137;
    }
    return attachProgram([...this.insideHost(host), ...argv]);
  }

  /** What to put before a command so that it runs inside the host. @throws E_LAB_HOST, E_LAB_HOST_OFF */
  insideHost(host: string): string[] {
    if (this.#isVirtual(host))
      throw new EscapementError("E_LAB_TIER", {
        tier: "vm",
        reason: `nothing of this machine runs inside ${host}`,
        hint: "lab exec and ssh do",
      });
    return insideHost(this.#place, hostNamed(this.state, host).name);
  }

  /**
   * Cuts a host off, from everybody or from `peers` alone (hosts, `controller`, `time`).
   * With `direction: "receive"` nothing reaches it while what it sends still arrives.
   */
  async cut(
    host: string,
    options: { readonly direction?: "both" | "receive"; readonly peers?: readonly string[] } = {},
  ): Promise<void> {
    const peers = [...(options.peers ?? [])];
    hostNamed(this.state, host);
    for (const peer of peers) if (peer !== controllerPeer && peer !== timePeer) hostNamed(this.state, peer);
    const cut: NetworkCut = { host, direction: options.direction ?? "both", peers };
    await applyCuts(
      this.#place,
      changeState(this.#place, (state) => ({ cuts: [...state.cuts, cut] })),
    );
  }

  /** Undoes every cut of a host, or of all. */
  async heal(host?: string): Promise<void> {
    if (host !== undefined) hostNamed(this.state, host);
    await applyCuts(
      this.#place,
      changeState(this.#place, (state) => ({
        cuts: host === undefined ? [] : state.cuts.filter((cut) => cut.host !== host),
      })),
    );
  }

  /** Pulls the plug: peers see silence, and no process of the host is left. */
  async powerOff(host: string): Promise<void> {
    const one = hostNamed(this.state, host);
    if (one.machine === "virtual") return killGuest(this.#place, one);
    // First the cable, or the kernel would end the connections of dying processes politely.
    await unplug(this.#place, one);
    await killHost(this.#place, host);
    await removeHostNamespace(this.#place, one);
  }

  /** Starts a host that is off, from its own disk; returns when it answers by ssh. */
  async powerOn(host: string): Promise<void> {
    const one = hostNamed(this.state, host);
    if (one.machine === "virtual") return powerOnGuest(this.#place, this.state, one);
    if (leaderOf(this.#place, host) !== undefined) return;
    // It may have shut itself down, with its namespace still there.
    await killHost(this.#place, host);
    await removeHostNamespace(this.#place, one);
    await plugIn(this.#place, this.state, one);
    startHost(this.#place, host, this.state.pool);
    await waitForHost(this.#place, one);
  }

  /** Shifts the wall clock of all units of a host; 0 is the right time. Returns when they have seen it. */
  async clock(host: string, offsetSeconds: number): Promise<void> {
    const one = hostNamed(this.state, host);
    if (one.machine === "virtual") return setGuestClock(this.#place, host, offsetSeconds);
    changeState(this.#place, (state) => ({ clocks: { ...state.clocks, [host]: offsetSeconds } }));
    await setHostClock(this.#place, host, offsetSeconds);
  }

  status(): HostStatus[] {
    const { hosts, clocks, cuts } = this.state;
    return hosts.map((host) => ({
      ...host,
      power: this.#isOn(host) ? "on" : "off",
      clockOffsetSeconds: clocks[host.name] ?? 0,
      cuts: cuts
        .filter((cut) => cut.host === host.name)
        .map(({ direction, peers }) => ({ direction, peers })),
    }));
  }

  #isVirtual(host: string): boolean {
    return hostNamed(this.state, host).machine === "virtual";
  }

  #isOn(host: LabHost): boolean {
    if (host.machine === "virtual") return guestRuns(this.#place, host.name);
    return leaderOf(this.#place, host.name) !== undefined;
  }

  /** Leaves nothing. Safe to call twice. */
  down(): Promise<void> {
    return takeDown(this.#place);
  }
}
