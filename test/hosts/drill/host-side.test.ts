/** The host's own part of a drill, on a real host: every fault in, proven, out again, and nothing left. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DrillEvent, DrillOrder } from "../../../src/chaos/host/drill-host.ts";
import { type DrillKey, makeDrillKey } from "../../../src/chaos/host/drill-key.ts";
import type { SshDrillHost } from "../../../src/chaos/host/ssh-drill-host.ts";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { until } from "../../support/until.ts";
import { shell } from "../provision/lab-targets.ts";
import { drillHost, everything, stageDrills } from "./staged-host.ts";

const name = "exec-1";
const unit = "victim.service";
const victim = `[Service]
ExecStart=/bin/sleep infinity
Restart=always
RestartSec=200ms
[Install]
WantedBy=multi-user.target
`;

describe.skipIf(noHosts)("a drill on a host", () => {
  const lab = hostLab({ hosts: [name] });
  const folder = mkdtempSync(join(tmpdir(), "escapement-drill-"));
  let key: DrillKey;
  let host: SshDrillHost;
  const sh = (line: string) => shell(lab(), name, line);

  beforeAll(async () => {
    key = await makeDrillKey(join(folder, "key"));
    await stageDrills(lab(), name, key, [...everything, `unit ${unit}`, "path /srv/fill"]);
    await sh(`printf '${victim.replaceAll("\n", "\\n")}' > /etc/systemd/system/${unit}
      systemctl daemon-reload; systemctl enable -q --now ${unit}
      mkdir -p /srv/fill; mount -t tmpfs -o size=16m fill /srv/fill`);
    host = await drillHost(lab(), name, key);
  });
  afterAll(async () => {
    await host?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function order(more: Partial<DrillOrder> & Pick<DrillOrder, "fault">): Promise<DrillOrder> {
    const { bootId } = await host.look([]);
    return { run: randomUUID(), host: name, bootId, holdSeconds: 2, limitSeconds: 8, ...more };
  }
  async function ended(run: string): Promise<readonly DrillEvent[]> {
    return until(
      async () => {
        const { state, events } = await host.progress(run);
        return state === "ended" ? events : undefined;
      },
      { what: `end of run ${run}`, deadlineMs: 60_000 },
    );
  }

  test("look", async () => {
    const look = await host.look([unit, "nothing.service"], ["/srv/fill"]);
    console.log(look);
    expect(look.units[unit]).toMatchObject({ active: "active", processState: "S" });
    expect(look.can.kill).toBe(true);
  });

  test.each([
    ["kill", { fault: "kill", unit, keepDown: true }],
    ["kill, and back at once", { fault: "kill", unit }],
    ["cut", { fault: "cut" }],
    ["receive", { fault: "cut", direction: "receive" }],
    ["stop", { fault: "stop", unit, keepDown: true }],
    ["pause", { fault: "pause", unit }],
    ["clock", { fault: "clock", offsetSeconds: 300 }],
    ["clock back", { fault: "clock", offsetSeconds: -300 }],
    ["fill-disk", { fault: "fill-disk", path: "/srv/fill", reserveBytes: 2 << 20 }],
    ["memory-limit", { fault: "memory-limit", unit, limitBytes: 64 << 20 }],
  ] as const)("%s", async (_, more) => {
    const one = await order(more);
    await host.begin(one);
    const events = await ended(one.run);
    console.log(
      events
        .map(
          (event) =>
            `${event.seq} ${event.event} ${event.bootMs - events[0]!.bootMs} ${JSON.stringify(event.detail)}`,
        )
        .join("\n"),
    );
    console.log(await sh(`cat /run/escapement-drill/${one.run}/said || :`));
    expect(await host.audit()).toEqual({ residue: [], unseen: [] });
  });
});
