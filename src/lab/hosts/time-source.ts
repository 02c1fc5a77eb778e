/**
 * The lab's time: one chronyd that serves this machine's time on several
 * addresses of the bridge's namespace. It never sets a clock: it is told not to
 * (-x), and the right to do so is taken from it.
 */
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { EscapementError } from "../../base/errors.ts";
import { monotonicMs, sleep } from "../../base/monotonic.ts";
import { enterScript } from "./control-group.ts";
import { mountDisk } from "./host-machine.ts";
import type { LabPlace } from "./lab-place.ts";
import { inNamespace } from "./lab-place.ts";
import type { LabState } from "./lab-state.ts";

/** Has a folder like a host, but no host can be called so: names begin with a letter. */
const folderName = "0-time";

export async function startTimeSource(place: LabPlace, state: LabState): Promise<void> {
  await mountDisk(place, folderName, state.timeSourceLayers);
  const root = place.hostRoot(folderName);
  mkdirSync(join(root, "run/chrony"), { recursive: true, mode: 0o750 });
  writeFileSync(
    join(root, "etc/lab-time.conf"),
    ["local stratum 2", `allow ${state.network}.0/24`, "cmdport 0", "pidfile /run/lab-time.pid", ""].join(
      "\n",
    ),
  );
  const command = [
    ...inNamespace(place.namespace),
    ...["setpriv", "--inh-caps=-sys_time", "--bounding-set=-sys_time"],
    ...["chroot", root, "/usr/sbin/chronyd", "-x", "-d", "-u", "root", "-f", "/etc/lab-time.conf"],
  ];
  const script = `${enterScript(`${place.controlGroup}/${folderName}`)}\nexec "$@"`;
  const log = openSync(join(place.hostFolder(folderName), "console.log"), "a", 0o600);
  const child = spawn("sh", ["-c", script, "sh", ...command], {
    stdio: ["ignore", log, log],
    detached: true,
    cwd: "/",
    env: { PATH: process.env.PATH, ...place.mark },
  });
  closeSync(log);
  child.on("error", () => {});
  child.unref();
}

/** Waits until every address tells the time. @throws E_LAB_STEP */
export async function waitForTimeSource(state: LabState): Promise<void> {
  const deadline = monotonicMs() + 15_000;
  for (const address of state.timeSources) {
    while (!(await tellsTime(address))) {
      if (monotonicMs() > deadline)
        throw new EscapementError("E_LAB_STEP", {
          step: "starting the time source",
          reason: `${address} does not answer`,
        });
      await sleep(50);
    }
  }
}

/** Asks as an NTP client of version 4 does (RFC 5905, 7.3); a server without the time answers stratum 0 or 16. */
function tellsTime(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createSocket("udp4");
    const end = (answer: boolean) => {
      clearTimeout(timer);
      socket.close();
      resolve(answer);
    };
    const timer = setTimeout(() => end(false), 300);
    socket.once("error", () => end(false));
    socket.once("message", (answer) => {
      const stratum = answer[1] ?? 0;
      end(answer.length >= 48 && stratum >= 1 && stratum <= 15);
    });
    const question = Buffer.alloc(48);
    question[0] = (4 << 3) | 3;
    socket.connect(123, address, () => socket.send(question));
  });
}
