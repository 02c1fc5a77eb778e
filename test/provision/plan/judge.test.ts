/** Each kind held against what a host may say: right, wrong, not there, and not known. */
import { describe, expect, test } from "vitest";
import { hostPaths } from "../../../src/provision/bundle/probe.ts";
import { Reading } from "../../../src/provision/bundle/reading.ts";
import { planHost, stepsOf } from "../../../src/provision/plan/host-plan.ts";
import type { Resource } from "../../../src/provision/resource.ts";
import { file, unit } from "../support/resources.ts";

const common = { risk: "low", noop: "", after: [], restarts: [], provenance: [] } as const;
const ends = [
  "path",
  "sum",
  "package",
  "unit",
  "group",
  "user",
  "sysctl",
  "mount",
  "cmdline",
  "sshd",
  "table",
].map((section) => `end\t${section}\t0`);

function plan(resources: readonly Resource[], facts: readonly string[]) {
  return planHost("h", resources, new Reading([...facts, ...ends], hostPaths()));
}

function judged(resource: Resource, facts: readonly string[]) {
  return plan([resource], facts).entries[0]!.judged;
}

const path = (name: string, type = "regular file", mode = "644", link = "") =>
  `path\t${name}\t${type}\t${mode}\troot\troot\t'${name}'${link && ` -> '${link}'`}\t~\t1700000000.5`;
const none = (name: string) => `stat: cannot statx '${name}': No such file or directory`;
const content = (name: string, text: string) => [
  path(name),
  `sum\t${name}\t${"0".repeat(64)}`,
  `content\t${name}\t${Buffer.from(text).toString("base64")}`,
];
const unitFact = (name: string, file: string, active: string, load = "loaded") =>
  `unit\tId=${name}\tNames=${name}\tLoadState=${load}\tActiveState=${active}\tUnitFileState=${file}\tActiveEnterTimestampMonotonic=1`;

describe("units", () => {
  const cases: [
    what: string,
    wanted: Partial<Parameters<typeof unit>[1]>,
    fact: string,
    state: string,
    lines: string[],
  ][] = [
    ["right", {}, unitFact("a.service", "enabled", "active"), "ok", []],
    ["static counts as enabled", {}, unitFact("a.service", "static", "active"), "ok", []],
    ["disabled", {}, unitFact("a.service", "disabled", "active"), "diff", ["disabled → enabled"]],
    ["failed", {}, unitFact("a.service", "enabled", "failed"), "diff", ["failed → active"]],
    [
      "starting",
      {},
      unitFact("a.service", "enabled", "activating"),
      "unknown",
      ["a.service is starting, or fails and is started again"],
    ],
    [
      "masked",
      {},
      unitFact("a.service", "masked", "inactive", "masked"),
      "diff",
      ["unmasked", "masked → enabled", "inactive → active"],
    ],
    [
      "to be masked",
      { enabled: "masked", running: false },
      unitFact("a.service", "enabled", "active"),
      "diff",
      ["enabled → masked", "active → inactive"],
    ],
    [
      "not there, nobody brings it",
      {},
      unitFact("a.service", "", "inactive", "not-found"),
      "unknown",
      ["a.service does not exist, and nothing in the plan brings it"],
    ],
    [
      "not there, and not wanted",
      { enabled: false, running: false },
      unitFact("a.service", "", "inactive", "not-found"),
      "ok",
      [],
    ],
  ];
  test.each(cases)("%s", (_, wanted, fact, state, lines) => {
    expect(judged(unit("a.service", wanted), [fact])).toMatchObject({ state, lines });
  });

  test("brought by a file, or by a package that is to be installed", () => {
    const facts = [
      unitFact("a.service", "", "inactive", "not-found"),
      none("/etc/systemd/system/a.service"),
      "dpkg-query: no packages found matching a",
    ];
    const byFile = plan([file("/etc/systemd/system/a.service", "x"), unit("a.service")], facts);
    expect(byFile.entries[1]!.judged).toMatchObject({
      state: "missing",
      lines: ["not there → enabled", "inactive → active"],
    });
    const byPackage = plan(
      [
        unit("a.service", { after: ["package:a"] }),
        { ...common, kind: "package", id: "package:a", name: "a", state: "installed" },
      ],
      facts,
    );
    expect(byPackage.entries.map(({ resource }) => resource.id)).toEqual(["package:a", "unit:a.service"]);
    expect(byPackage.entries[1]!.judged).toMatchObject({
      state: "missing",
      notPreviewable: "its unit comes with package a",
    });
  });
});

describe("mount options", () => {
  const wanted = (options: string[], mountPoint = "/data"): Resource => ({
    ...common,
    kind: "mount-option",
    id: `mount:${mountPoint}`,
    mountPoint,
    options,
  });
  const fstab =
    "# comment\nUUID=1  /  ext4  defaults,relatime 0 1\n/dev/sdb1\t/data\txfs\tdefaults,relatime,logbufs=2,nofail\t0 2\n";
  const facts = [
    ...content("/etc/fstab", fstab),
    "mount\t/data\trw,relatime,logbufs=2\txfs\t/dev/sdb1",
    "mount\t/\trw,relatime\text4\t/dev/sda1",
  ];

  test("rivals give way, the line keeps its form, and what shows is remounted", () => {
    const { steps, diff } = judged(wanted(["noatime", "logbufs=8", "nofail"]), facts);
    expect(diff).toContain("+/dev/sdb1\t/data\txfs\tdefaults,nofail,noatime,logbufs=8\t0 2");
    expect(steps[1]).toMatchObject({
      argv: ["mount", "-o", "remount,noatime,logbufs=8", "/data"],
      undo: ["mount", "-o", "remount,rw,relatime,logbufs=2", "/data"],
    });
  });

  test("two mount points, one file: it is written once, with both", () => {
    const steps = stepsOf(plan([wanted(["noatime"]), wanted(["noatime"], "/")], facts));
    const placed = steps.filter((step) => step.do === "place");
    expect(placed).toHaveLength(1);
    expect(placed[0]).toMatchObject({
      content: expect.stringMatching(/\/ {2}ext4 {2}defaults,noatime[\s\S]*logbufs=2,nofail,noatime/),
    });
  });

  test("right, not in fstab, not mounted", () => {
    expect(judged(wanted(["relatime", "nofail"]), facts).state).toBe("ok");
    expect(judged(wanted(["noatime"], "/none"), facts)).toMatchObject({
      state: "unknown",
      lines: ["/etc/fstab has no line for /none"],
    });
    expect(judged(wanted(["noatime"]), facts.slice(0, 3))).toMatchObject({ state: "unknown" });
  });
});

describe("sshd", () => {
  const wanted: Resource = {
    ...common,
    kind: "sshd-option",
    id: "sshd",
    name: "PermitRootLogin",
    value: "prohibit-password",
  };
  const dropIn = "/etc/ssh/sshd_config.d/00-escapement-permitrootlogin.conf";

  test("the effective value counts, under its old name too", () => {
    expect(judged(wanted, [none(dropIn), "sshd\tpermitrootlogin yes"])).toMatchObject({
      state: "missing",
      lines: ["new", "yes → prohibit-password"],
    });
    const { steps } = judged(wanted, [none(dropIn), "sshd\tpermitrootlogin yes"]);
    const placed = steps.find((step) => step.do === "place");
    if (placed?.do !== "place") throw new Error("nothing is placed");
    expect(placed.content).toBe("PermitRootLogin prohibit-password\n");
    expect(steps.at(-1)).toMatchObject({ do: "check", argv: ["sshd", "-t"] });
  });

  test("an sshd that cannot say what it does is unknown", () => {
    const reading = new Reading([none(dropIn), "end\tpath\t0", "end\tsshd\t255"], hostPaths());
    expect(planHost("h", [wanted], reading).entries[0]!.judged.state).toBe("unknown");
  });
});

describe("the rest", () => {
  test("kernel settings: running and kept, blanks aside", () => {
    const wanted: Resource = {
      ...common,
      kind: "sysctl",
      id: "s",
      key: "net.ipv4.tcp_rmem",
      value: "4096 1 2",
    };
    const dropIn = "/etc/sysctl.d/90-escapement-net.ipv4.tcp_rmem.conf";
    const running = "sysctl\t/proc/sys/net/ipv4/tcp_rmem\t4096\t1\t2";
    expect(judged(wanted, [none(dropIn), running])).toMatchObject({ state: "missing", lines: ["new"] });
    expect(judged(wanted, [none(dropIn), running.replace("2", "3")]).steps).toMatchObject([
      { do: "place" },
      { do: "run" },
    ]);
    expect(judged(wanted, [none(dropIn), "sysctl-missing\t/proc/sys/net/ipv4/tcp_rmem"]).state).toBe(
      "unknown",
    );
  });

  test("a word of the kernel command line waits for the next boot", () => {
    const wanted: Resource = {
      ...common,
      kind: "kernel-parameter",
      id: "k",
      name: "transparent_hugepage",
      value: "madvise",
    };
    const dropIn = "/etc/default/grub.d/60-escapement-transparent_hugepage.cfg";
    const facts = [none(dropIn), "cmdline\troot=/dev/sda1 quiet", path("/usr/sbin/update-grub")];
    expect(judged(wanted, facts)).toMatchObject({ state: "missing", needsReboot: true });
    expect(judged(wanted, [none(dropIn), "cmdline\tquiet", none("/usr/sbin/update-grub")]).state).toBe(
      "unknown",
    );
  });

  test("time zone", () => {
    const wanted: Resource = { ...common, kind: "time-zone", id: "t", zone: "Etc/UTC" };
    const data = path("/usr/share/zoneinfo/Etc/UTC");
    const link = (zone: string) =>
      path("/etc/localtime", "symbolic link", "777", `/usr/share/zoneinfo/${zone}`);
    expect(judged(wanted, [data, link("Europe/Berlin"), none("/etc/timezone")])).toMatchObject({
      state: "diff",
      lines: ["Europe/Berlin → Etc/UTC"],
    });
    expect(
      judged(wanted, [none("/usr/share/zoneinfo/Etc/UTC"), link("Etc/UTC"), none("/etc/timezone")]).state,
    ).toBe("unknown");
  });

  test("secrets are shown as sums only", () => {
    const wanted = file("/etc/secret", "hunter2\n", { secret: true, mode: 0o600 });
    expect(JSON.stringify(judged(wanted, [none("/etc/secret")]).lines)).not.toContain("hunter2");
    expect(judged(wanted, [none("/etc/secret")]).diff ?? "").toBe("");
  });

  test("what the profile could not compute is unknown, and nothing is done", () => {
    expect(judged(file("/etc/a", "x", { unavailable: "needs-vm: y" }), [])).toMatchObject({
      state: "unknown",
      lines: ["needs-vm: y"],
      steps: [],
    });
  });

  test("resources that wait for each other, and two with one id, are refused", () => {
    const a = file("/a", "", { after: ["file:/b"] });
    expect(() => plan([a, file("/b", "", { after: ["file:/a"] })], [])).toThrow(
      /wait for each other: file:\/a → file:\/b → file:\/a/,
    );
    expect(() => plan([a, a], [])).toThrow(/two resources have the id file:\/a/);
  });
});
