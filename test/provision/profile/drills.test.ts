/** What lets a host take drills, and when a host takes none. */
import { expect, test } from "vitest";
import { factsOf } from "./machines.ts";
import { compileFor, fileAt, inventoryOf, resourceOf, siteHosts, siteSettings } from "./site.ts";

const key = `ssh-ed25519 AAAA${"C3NzaC1lZDI1NTE5AAAAIJeWdRxM8bWDHTRdUMlWFG0PZ/7OdECQ8dqmQ0DIMdOH"} drills`;
const withKey = inventoryOf(siteHosts, { ...siteSettings, drillPublicKey: key });

test("without a key there is nothing of drills on a host", async () => {
  const { resources } = await compileFor("exec-1", factsOf("small"));
  expect(resources.filter(({ id }) => id.includes("drill"))).toEqual([]);
});

test("one program, for one login, with a list of what it may do", async () => {
  const compiled = await compileFor("exec-1", factsOf("small"), { inventory: withKey });
  expect(fileAt(compiled, "/etc/escapement/drill/allowed").content.split("\n")).toEqual([
    expect.stringContaining("#"),
    "host exec-1",
    ...["kill", "stop", "pause", "cut", "clock", "fill-disk", "memory-limit"].map((one) => `fault ${one}`),
    "unit escapement-executor.service",
    "path /var/lib/escapement",
    "hold 900",
    "limit 1200",
    "offset 600",
    `reserve ${256 << 20}`,
    "load 50",
    "",
  ]);
  const login = fileAt(compiled, "/var/lib/escapement-drill/.ssh/authorized_keys");
  expect(login).toMatchObject({ owner: "root", mode: 0o644 });
  expect(login.content).toContain(
    '\nrestrict,command="sudo -n /usr/local/lib/escapement/drill" ssh-ed25519 AAAA',
  );
  const right = fileAt(compiled, "/etc/sudoers.d/escapement-drill");
  expect(right.content).toMatch(
    /^escapement-drill ALL=\(root\) NOPASSWD: \/usr\/local\/lib\/escapement\/drill ""$/m,
  );
  expect(resourceOf(compiled, "user:escapement-drill")).toMatchObject({ shell: "/bin/sh" });
  expect(resourceOf(compiled, "unit:escapement-drill-cleanup.service")).toMatchObject({ enabled: true });
  expect(fileAt(compiled, "/etc/tmpfiles.d/escapement-drill.conf").content).toContain(
    "r! /var/lib/escapement/.escapement",
  );
  expect(fileAt(compiled, "/usr/local/lib/escapement/drill").content).toMatch(/^#!\/bin\/sh\n/);
});

test("the watchman takes none, the record store is never filled, power is for who asks for it", async () => {
  const allowedOn = async (host: string) =>
    fileAt(await compileFor(host, factsOf("small"), { inventory: withKey }), "/etc/escapement/drill/allowed")
      .content;
  expect(await allowedOn("watch")).not.toContain("fault ");
  expect(await allowedOn("store")).not.toContain("fill-disk");
  expect(await allowedOn("sched-a")).not.toContain("power");
});

test.each(["ssh-rsa AAAA", 'ssh-ed25519 AAAA" command="sh', "nothing"])(
  "%s is no key",
  async (drillPublicKey) => {
    const inventory = inventoryOf(siteHosts, { ...siteSettings, drillPublicKey });
    const { notes, resources } = await compileFor("exec-1", factsOf("small"), { inventory });
    expect(notes.filter(({ severity }) => severity === "error").map(({ text }) => text)).toEqual([
      expect.stringContaining("drillPublicKey"),
    ]);
    expect(resources.filter(({ id }) => id.includes("drill"))).toEqual([]);
  },
);
