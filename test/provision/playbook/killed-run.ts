/** A run as a process of its own, that is killed with SIGKILL at the n-th place where a death could hurt. */

import { Journal } from "../../../src/provision/playbook/journal.ts";
import { loadPlaybooks } from "../../../src/provision/playbook/load-playbook.ts";
import { runPlaybook } from "../../../src/provision/playbook/runner.ts";
import { FakeWorld, fakeHosts, fakeRegistry } from "./fake-world.ts";

const [playbookFile = "", journalFile = "", worldFile = "", dieAt = "0"] = process.argv.slice(2);

let places = 0;
function place(): void {
  places += 1;
  // Nothing after this line is run: the kernel ends the process inside the call.
  if (places === Number(dieAt)) process.kill(process.pid, "SIGKILL");
}

class FragileJournal extends Journal {
  override append(entry: Parameters<Journal["append"]>[0]): void {
    place();
    super.append(entry);
    place();
  }
}

const { playbooks } = await loadPlaybooks([playbookFile], fakeRegistry);
const world = new FakeWorld(worldFile);
world.interfere = place;
const result = await runPlaybook({
  playbook: playbooks[0]!,
  registry: fakeRegistry,
  world,
  hosts: fakeHosts,
  targets: [],
  inventoryDigest: "six machines",
  journal: new FragileJournal(journalFile),
  signal: new AbortController().signal,
});
process.stdout.write(JSON.stringify({ outcome: result.outcome, resumed: result.resumed, places }));
