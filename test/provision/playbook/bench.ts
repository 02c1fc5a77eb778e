/** A playbook, a journal and a world in a folder of their own. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { Journal } from "../../../src/provision/playbook/journal.ts";
import { loadPlaybooks, type Playbook } from "../../../src/provision/playbook/load-playbook.ts";
import {
  type RunEvent,
  type RunOptions,
  type RunResult,
  runPlaybook,
} from "../../../src/provision/playbook/runner.ts";
import { FakeWorld, fakeHosts, fakeRegistry } from "./fake-world.ts";

export const threeSteps = fileURLToPath(
  new URL("../../cases/provision/playbook/three-steps.yaml", import.meta.url),
);

export class PlaybookBench {
  readonly folder = mkdtempSync(join(tmpdir(), "escapement-playbook-"));
  readonly journalFile = join(this.folder, "journal", "three-steps.jsonl");
  readonly world = new FakeWorld(join(this.folder, "world.json"));
  readonly stop = new AbortController();
  readonly events: RunEvent[] = [];
  readonly playbook: Playbook;

  private constructor(playbook: Playbook) {
    this.playbook = playbook;
    onTestFinished(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** @param edit changes the text of the three steps */
  static async open(edit: (text: string) => string = (text) => text): Promise<PlaybookBench> {
    const { readFileSync } = await import("node:fs");
    const folder = mkdtempSync(join(tmpdir(), "escapement-playbook-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "playbook.yaml");
    writeFileSync(file, edit(readFileSync(threeSteps, "utf8")));
    const { playbooks, problems } = await loadPlaybooks([file], fakeRegistry);
    if (!playbooks[0]) throw new Error(JSON.stringify(problems));
    return new PlaybookBench(playbooks[0]);
  }

  options(change: Partial<RunOptions<FakeWorld>> = {}): RunOptions<FakeWorld> {
    return {
      playbook: this.playbook,
      registry: fakeRegistry,
      world: this.world,
      hosts: fakeHosts,
      targets: [],
      inventoryDigest: "six machines",
      journal: new Journal(this.journalFile),
      signal: this.stop.signal,
      onEvent: (event) => this.events.push(event),
      ...change,
    };
  }

  run(change: Partial<RunOptions<FakeWorld>> = {}): Promise<RunResult> {
    return runPlaybook(this.options(change));
  }
}

/** What is on when all three steps are done. */
export const allOn = ["exec-1/b", "exec-2/b", "exec-3/b", "sched-1/a", "sched-1/c", "sched-2/a"];
