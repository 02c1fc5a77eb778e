/** Reads facts and drift of all hosts of the inventory: by the program's own commands, which change nothing. */
import { monotonicMs } from "../../base/monotonic.ts";
import { type OwnProgram, runOwnCommand } from "../actions/run-command.ts";
import type { Session } from "../session.ts";
import { currentView } from "../state/state.ts";
import { inspectionOf } from "./host-inspection.ts";

export class HostInspector {
  readonly #program: OwnProgram;
  readonly #inventory: string | null;
  #running = false;
  #ever = false;

  constructor(program: OwnProgram, inventory: string | null) {
    this.#program = program;
    this.#inventory = inventory;
  }

  /** The first time that hosts are shown, nobody needs to ask. */
  follow(session: Session): void {
    session.subscribe(() => {
      if (!this.#ever && this.#inventory !== null && currentView(session.current()).screen === "hosts")
        void this.inspect(session);
    });
  }

  /** Never throws: what could not be read is part of the answer. */
  async inspect(session: Session): Promise<void> {
    if (this.#running || this.#inventory === null) return;
    this.#running = true;
    this.#ever = true;
    const before = session.current().picture.inspection?.value.hosts ?? [];
    const tell = (hosts: typeof before, running: boolean, problem: string | null) =>
      session.send({
        type: "data",
        part: "inspection",
        value: { hosts, running, problem },
        nowMs: monotonicMs(),
      });
    tell(before, true, null);
    const [facts, verify] = await Promise.all([
      runOwnCommand(this.#program, ["facts", "--findings-only", "-i", this.#inventory]),
      runOwnCommand(this.#program, ["verify", ...session.current().hostOptions]),
    ]);
    this.#running = false;
    // Both end with other codes than 0 where they have found something: what they wrote counts.
    const failed = [facts, verify].find(({ stdout }) => stdout.trim() === "");
    tell(inspectionOf(facts.stdout, verify.stdout), false, failed?.text ?? null);
  }
}
