/**
 * The runner is killed after each of its steps, one after the other until a
 * run comes through: on one host as if it alone died, on another with the plug
 * pulled, side by side. The host is then wholly old, whoever puts it right, and
 * no restart is lost.
 */
import { describe, expect, test } from "vitest";
import { applyHost } from "../../../src/provision/apply/apply-host.ts";
import { rollbackHost } from "../../../src/provision/apply/rollback-host.ts";
import { applyBundle } from "../../../src/provision/bundle/apply-bundle.ts";
import { hostPaths } from "../../../src/provision/bundle/probe.ts";
import { runBundle } from "../../../src/provision/bundle/run-bundle.ts";
import { revertBundle } from "../../../src/provision/bundle/settle-bundle.ts";
import { type HostPlan, hasChanges } from "../../../src/provision/plan/host-plan.ts";
import { probesOf } from "../../../src/provision/plan/judge.ts";
import { lookAndPlan } from "../../../src/provision/plan/look.ts";
import type { Resource } from "../../../src/provision/resource.ts";
import type { Remote } from "../../../src/remote/remote.ts";
import { file, restart, unit } from "../../provision/support/resources.ts";
import { hostLab, noHosts } from "../../support/host-lab.ts";
import { until } from "../../support/until.ts";
import { connectTo, fingerprint, shell } from "./lab-targets.ts";

const service = (
  note: string,
  start = "cat /etc/made.conf >/run/made.started; exec sleep infinity",
) => `[Unit]
Description=${note}
[Service]
ExecStart=/bin/sh -c '${start}'
[Install]
WantedBy=multi-user.target
`;

const wanted: readonly Resource[] = [
  {
    kind: "package",
    id: "package:nftables",
    name: "nftables",
    state: "installed",
    risk: "low",
    noop: "",
    after: [],
    restarts: [],
    provenance: [],
  },
  file("/etc/made.conf", "new\n", { restarts: [restart("made.service")] }),
  file("/etc/systemd/system/made.service", service("new"), { restarts: [restart("made.service")] }),
  file("/etc/systemd/system/other.service", service("other", "exec sleep infinity")),
  unit("made.service"),
  unit("other.service", { after: ["file:/etc/systemd/system/other.service"] }),
];

describe.skipIf(noHosts).concurrent("killed at every step", () => {
  const lab = hostLab({ hosts: ["exec-1", "exec-2"] });
  const see = (host: string) => fingerprint(lab(), host, "made* other*");
  /** What the service runs with is what is on disk; it reads it a moment after systemd calls it active. */
  const inEffect = (host: string, when = "at the end") =>
    until(
      async () =>
        (await shell(
          lab(),
          host,
          "cmp -s /run/made.started /etc/made.conf && systemctl is-active made.service || :",
        )) === "active",
      { what: `the service to run with what is on disk ${when}`, deadlineMs: 20_000, everyMs: 200 },
    );

  async function plan(host: string, settle = false): Promise<HostPlan> {
    const remote = await (await connectTo(lab(), host))();
    try {
      return await lookAndPlan(remote, wanted, { settle });
    } finally {
      await remote.close();
    }
  }

  async function old(host: string): Promise<string> {
    const text = service("old").replaceAll("'", `'\\''`);
    await shell(
      lab(),
      host,
      `echo old >/etc/made.conf; printf '%s' '${text}' >/etc/systemd/system/made.service
       systemctl daemon-reload; systemctl enable --quiet --now made.service`,
    );
    return see(host);
  }

  /** @returns how many steps there are, each of them tried; the last run came through and was put back */
  async function killEach(host: string, way: "contact" | "power"): Promise<number> {
    const before = await old(host);
    const connect = await connectTo(lab(), host);
    const over = async <T>(work: (remote: Remote) => Promise<T>) => {
      const remote = await connect();
      try {
        return await work(remote);
      } finally {
        await remote.close();
      }
    };
    const paths = hostPaths();
    for (let stopAt = 1; ; stopAt++) {
      const id = `20260101T${String(stopAt).padStart(6, "0")}Z-${way}`;
      const planned = await plan(host, true);
      expect(planned.interrupted).toEqual([]);
      const bundle = applyBundle(planned, probesOf(wanted), { id, confirmSeconds: 60, stopAt });
      const exec = { what: "apply", deadlineMs: 120_000 };
      const said = await over((remote) => runBundle(remote, bundle, exec)).catch(() => undefined);
      if (said) expect(said.at(-1), said.join("\n")).toMatch(/^result\tapplied/);
      if (way === "power") {
        await lab().powerOff(host);
        await lab().powerOn(host);
        await until(
          async () => /running|degraded/.test(await shell(lab(), host, "systemctl is-system-running || :")),
          { what: "the host to finish its start", deadlineMs: 60_000 },
        );
      } else if ((await plan(host, true)).interrupted.length > 0) {
        // All was done, and it waits for its confirmation.
        await over((remote) => runBundle(remote, revertBundle(id, { paths }), exec));
      }
      expect(await see(host), `${way}, step ${stopAt}`).toBe(before);
      await inEffect(host, `${way}, step ${stopAt}`);
      if (said) return stopAt - 1;
    }
  }

  test("then met again: wholly old, nothing pending, and the same apply goes through afterwards", async () => {
    const host = "exec-1";
    const steps = await killEach(host, "contact");
    console.log(`killed at each of ${steps} steps, met again each time`);
    expect(steps).toBeGreaterThan(20);
    const connect = await connectTo(lab(), host);
    expect(await applyHost(await plan(host), { connect, confirmSeconds: 60 })).toMatchObject({
      result: "committed",
    });
    expect(hasChanges(await plan(host))).toBe(false);
    await inEffect(host);
    expect(await shell(lab(), host, "cat /run/made.started")).toBe("new");
    const remote = await connect();
    expect(await rollbackHost(remote)).toMatchObject({ result: "rolled-back" });
    await remote.close();
  }, 900_000);

  test("with the plug pulled: wholly old after the boot, before anybody asks", async () => {
    const steps = await killEach("exec-2", "power");
    console.log(`lost power at each of ${steps} steps`);
    expect(steps).toBeGreaterThan(20);
  }, 1_200_000);
});
