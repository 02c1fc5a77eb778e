/** What is generated is judged by the programs that will read it, where they are installed. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { FileResource } from "../../../src/provision/resource.ts";
import { unavailable } from "../../support/tier.ts";
import { factsOf, type MachineName } from "./machines.ts";
import { compileFor, fileAt, inventoryOf, siteHosts, siteSettings } from "./site.ts";

const folder = mkdtempSync(join(tmpdir(), "escapement-profile-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Verdict {
  readonly ok: boolean;
  readonly said: string;
}

function run(argv: readonly string[], input?: string): Verdict {
  const result = spawnSync(argv[0]!, argv.slice(1), { encoding: "utf8", input: input ?? "" });
  return { ok: result.status === 0, said: `${result.stdout}${result.stderr}${result.error?.message ?? ""}` };
}

/** As apply does it: a copy under its own name, and the validator of the resource. */
function judge(file: FileResource, content = file.content, around: readonly string[] = []): Verdict {
  const copyFolder = mkdtempSync(join(folder, "copy-"));
  const copy = join(copyFolder, basename(file.path));
  writeFileSync(copy, content);
  return run([...around, ...file.validator!.argv.map((word) => word.replace("{file}", copy))]);
}

/** A network of its own with the card that the facts name, as root only. */
function withCard(argv: readonly string[]): readonly string[] {
  return [
    "unshare",
    "-n",
    "sh",
    "-c",
    'ip link add eno1 type veth peer name other && ip link set eno1 up && ip addr add 10.0.0.11/24 dev eno1 && exec "$@"',
    "sh",
    ...argv,
  ];
}

const isRoot = process.getuid?.() === 0;
const has = (program: string) => ["/usr/sbin", "/usr/bin"].some((one) => existsSync(join(one, program)));
const hasNft = isRoot && has("nft") && run(["unshare", "-n", "nft", "list", "ruleset"]).ok;
const hasCard = isRoot && has("ip") && run(withCard(["true"])).ok;

const everyHost = siteHosts.map(({ name }) => name);
const everyMachine: readonly MachineName[] = ["container", "small", "eightNodes"];

describe.skipIf(unavailable("chronyd", has("chronyd")))("chronyd", () => {
  test.each(everyMachine)("takes the clock of a %s", async (machine) => {
    for (const host of everyHost) {
      const verdict = judge(fileAt(await compileFor(host, factsOf(machine)), "/etc/chrony/chrony.conf"));
      expect(verdict).toMatchObject({ ok: true });
    }
  });

  test("refuses a copy with a mistake in it", async () => {
    const file = fileAt(await compileFor("sched-a", factsOf("small")), "/etc/chrony/chrony.conf");
    expect(judge(file, file.content.replace("minsources", "minsorces"))).toMatchObject({ ok: false });
  });
});

describe.skipIf(unavailable("keepalived, with a network of its own", hasCard && has("keepalived")))(
  "keepalived",
  () => {
    test.each(["sched-a", "sched-b"])("takes the address of %s", async (host) => {
      const file = fileAt(await compileFor(host, factsOf("small")), "/etc/keepalived/keepalived.conf");
      expect(judge(file, file.content, withCard([]))).toEqual({ ok: true, said: "" });
    });

    test.each([
      ["a word it does not know", "nopreempt", "nopremt"],
      ["a card that is not there", "interface eno1", "interface eno7"],
      ["no address to send from", "unicast_src_ip 10.0.0.11", "unicast_src_ip 10.0.0.999"],
    ])("refuses %s", async (_, right, wrong) => {
      const file = fileAt(await compileFor("sched-a", factsOf("small")), "/etc/keepalived/keepalived.conf");
      expect(file.content).toContain(right);
      expect(judge(file, file.content.replace(right, wrong), withCard([])).ok).toBe(false);
    });
  },
);

describe.skipIf(unavailable("nft, with a network of its own", hasNft))("nft", () => {
  test.each(everyHost)("loads the rules of %s, and prints them as they were written", async (host) => {
    const { resources } = await compileFor(host, factsOf("small"), { inventory: busySite() });
    const table = resources.find((one) => one.kind === "nft-table")!;
    const verdict = run(
      ["unshare", "-n", "sh", "-c", "nft -f - && nft -s list table inet escapement"],
      table.rules,
    );
    expect(verdict).toEqual({ ok: true, said: table.rules });
  });

  test("time is asked for with every rule loaded, ssh gets in, and the rest does not", async () => {
    const { resources } = await compileFor("sched-a", factsOf("small"));
    const { rules } = resources.find((one) => one.kind === "nft-table")!;
    const script = [
      "set -e",
      "ip link set lo up",
      "nft -f -",
      // Nobody answers, and nobody has to: that the request left is what counts.
      "ip link add out type veth peer name far",
      "ip addr add 10.9.9.1/24 dev out && ip link set out up && ip link set far up",
      "ip neigh add 10.9.9.2 lladdr 02:00:00:00:00:02 dev out",
      `node -e 'const s = require("dgram").createSocket("udp4"); s.send("x", 123, "10.9.9.2", () => s.close())'`,
      "nft list counter inet escapement ntp_out",
    ].join("\n");
    const verdict = run(["unshare", "-n", "sh", "-c", script], rules);
    expect(verdict).toMatchObject({ ok: true });
    expect(verdict.said).toMatch(/packets 1 /);
    expect(rules).toContain("policy drop");
    expect(rules).toContain('tcp dport 22 accept comment "ssh"');
  });
});

describe.skipIf(unavailable("systemd-analyze", has("systemd-analyze")))("systemd", () => {
  test.each(everyMachine)("takes every unit of a %s", async (machine) => {
    for (const host of everyHost) {
      const { resources } = await compileFor(host, factsOf(machine));
      const units = resources.filter(
        (one): one is FileResource => one.kind === "file" && one.path.startsWith("/etc/systemd/system/"),
      );
      expect(units.length).toBeGreaterThan(0);
      const place = mkdtempSync(join(folder, "units-"));
      for (const { path, content } of units) {
        const copy = join(place, path.slice("/etc/systemd/system/".length));
        mkdirSync(join(copy, ".."), { recursive: true });
        // The program is put there by its deployment, before any profile is applied.
        writeFileSync(copy, content.replaceAll("/opt/escapement/current/node", process.execPath));
      }
      for (const { path } of units.filter(({ path }) => /\.(service|slice|timer)$/.test(path)))
        expect([path, run(["systemd-analyze", "verify", join(place, basename(path))])]).toEqual([
          path,
          { ok: true, said: "" },
        ]);
    }
  });

  test("refuses a unit with a mistake in it", async () => {
    const file = fileAt(
      await compileFor("exec-1", factsOf("small")),
      "/etc/systemd/system/escapement-executor.service",
    );
    const right = file.content.replaceAll("/opt/escapement/current/node", process.execPath);
    expect(judge(file, right)).toEqual({ ok: true, said: "" });
    expect(judge(file, right.replace("OOMPolicy=continue", "OOMPolicy=go on")).ok).toBe(false);
    expect(judge(file, right.replace("KillMode=mixed", "Killmode=mixed")).ok).toBe(false);
    // And before the program is deployed.
    expect(judge(file).ok).toBe(false);
  });

  test("takes the calendar expression of the archive timer", async () => {
    const timer = fileAt(
      await compileFor("exec-1", factsOf("small")),
      "/etc/systemd/system/escapement-ship-logs.timer",
    );
    const calendar = /^OnCalendar=(.*)$/m.exec(timer.content)![1]!;
    expect(run(["systemd-analyze", "calendar", calendar])).toMatchObject({ ok: true });
  });
});

describe.skipIf(unavailable("sudo", has("visudo")))("sudo", () => {
  test("takes the rule of the executor, and refuses it with a mistake", async () => {
    const file = fileAt(await compileFor("exec-1", factsOf("small")), "/etc/sudoers.d/escapement-executor");
    expect(judge(file).ok).toBe(true);
    expect(judge(file, file.content.replace("NOPASSWD:", "NOPASSWD")).ok).toBe(false);
  });
});

const postgres = ["15", "16", "17", "18"]
  .map((major) => `/usr/lib/postgresql/${major}/bin/postgres`)
  .find(existsSync);

describe.skipIf(unavailable("PostgreSQL of the system, as root", postgres !== undefined && isRoot))(
  "PostgreSQL",
  () => {
    test.each(["container", "small", "twoSockets"] as const)(
      "knows every setting for a %s",
      async (machine) => {
        const file = fileAt(
          await compileFor("store", factsOf(machine)),
          "/etc/postgresql/15/main/conf.d/escapement.conf",
        );
        const place = mkdtempSync(join(folder, "pg-"));
        writeFileSync(join(place, "postgresql.conf"), file.content);
        writeFileSync(join(place, "PG_VERSION"), "15\n");
        run(["chown", "-R", "nobody", place]);
        run(["chmod", "755", folder]);
        for (const name of ["shared_buffers", "max_connections", "synchronous_commit"]) {
          const verdict = run([
            "setpriv",
            "--reuid=nobody",
            "--clear-groups",
            postgres!,
            "-C",
            name,
            "-D",
            place,
          ]);
          expect([name, verdict]).toMatchObject([name, { ok: true }]);
        }
      },
    );
  },
);

/** Rules of more than one kind: addresses of both families, openings of the site. */
function busySite() {
  return inventoryOf(
    siteHosts.map((one) =>
      one.name === "exec-3" ? { ...one, settings: { clusterAddress: "fd00::23" } } : one,
    ),
    siteSettings,
  );
}

test("the check of the address asks the local scheduler, and nobody else", async () => {
  const script = fileAt(
    await compileFor("sched-a", factsOf("small")),
    "/usr/local/libexec/escapement/check-scheduler",
  ).content;
  const place = join(folder, "check-scheduler");
  const { createServer } = await import("node:http");
  let status = 200;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.statusCode = status;
    response.end("x");
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  expect(script).toContain("/dev/tcp/127.0.0.1/7070");
  writeFileSync(place, script.replace("/7070", `/${port}`), { mode: 0o755 });
  const { spawn } = await import("node:child_process");
  const check = () =>
    new Promise<number | null>((done) => spawn("bash", [place], { stdio: "ignore" }).on("close", done));
  expect(await check()).toBe(0);
  status = 503;
  expect(await check()).not.toBe(0);
  expect(asked).toEqual(["/readyz", "/readyz"]);
  await new Promise((done) => server.close(done));
  expect(await check()).not.toBe(0);
  expect(readFileSync(place, "utf8")).not.toMatch(/curl|wget/);
});
