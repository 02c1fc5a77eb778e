/** The steps from a claimed name to hosts that answer. Whoever calls it takes the lab down when a step fails. */
import { randomBytes } from "node:crypto";
import { makeFolder } from "../../base/make-folder.ts";
import { bringUpGuest } from "../vm/lab-guest.ts";
import { machinesAtOnce, StartingLane } from "../vm/starting-lane.ts";
import { makeKey, personalise } from "./host-files.ts";
import { mountDisk, startHost, waitForHost } from "./host-machine.ts";
import { createNetwork, plugIn } from "./lab-network.ts";
import type { LabPlace } from "./lab-place.ts";
import type { LabState } from "./lab-state.ts";
import { outputFile, writeOutput } from "./output-files.ts";
import { startTimeSource, waitForTimeSource } from "./time-source.ts";

/** @throws E_LAB_STEP */
export async function bringUp(
  place: LabPlace,
  state: LabState,
  say: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  say("network and time source");
  makeFolder(state.outputFolder);
  const keys = {
    authorizedKey: await makeKey(outputFile(state.outputFolder, "key"), `lab ${place.name}`),
    opsPassword: randomBytes(12).toString("base64url"),
  };
  await createNetwork(place, state);
  signal?.throwIfAborted();
  await startTimeSource(place, state);
  say(`starting ${state.hosts.length} hosts`);
  const machines = new StartingLane(machinesAtOnce(state));
  const knownHosts = await Promise.all(
    state.hosts.map(async (host) => {
      if (host.machine === "virtual")
        return machines.run(() => bringUpGuest(place, state, host, keys, signal));
      await mountDisk(place, host.name, state.layers);
      const line = await personalise(place, state, host, keys);
      await plugIn(place, state, host);
      startHost(place, host.name, state.pool);
      return line;
    }),
  );
  signal?.throwIfAborted();
  writeOutput(state, knownHosts, keys.opsPassword);
  await Promise.all([
    waitForTimeSource(state),
    ...state.hosts
      .filter((host) => host.machine === "container")
      .map((host) => waitForHost(place, host, signal)),
  ]);
}
