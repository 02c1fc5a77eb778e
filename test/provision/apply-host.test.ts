import { afterEach, expect, test } from "vitest";
import { EscapementError } from "../../src/base/errors.ts";
import { type ApplyHostOptions, applyHost } from "../../src/provision/apply/apply-host.ts";
import { lastChange, rollbackHost } from "../../src/provision/apply/rollback-host.ts";
import { verdictOf } from "../../src/provision/drift/verdict.ts";
import { hasChanges, leftToOthers } from "../../src/provision/plan/host-plan.ts";
import { lookAndPlan } from "../../src/provision/plan/look.ts";
import { existingUser } from "../../src/provision/profile/make-resource.ts";
import type { Resource } from "../../src/provision/resource.ts";
import type { Remote } from "../../src/remote/remote.ts";
import { FakeHost } from "./support/fake-host.ts";
import { localShell } from "./support/local-remote.ts";
import { file, restart, unit } from "./support/resources.ts";

let on: FakeHost;
afterEach(() => on.remove());

const wanted: readonly Resource[] = [
  file("/etc/one.conf", "new\n", { restarts: [restart("one.service")] }),
  unit("one.service"),
];

function ready(): FakeHost {
  on = new FakeHost();
  on.write("/etc/one.conf", "old\n");
  on.service("one.service", "/etc/one.conf");
  return on;
}

const plan = (resources = wanted) =>
  lookAndPlan(localShell("h1"), resources, { paths: on.paths, path: on.bin });

function options(more: Partial<ApplyHostOptions> = {}): ApplyHostOptions {
  return { connect: async () => localShell("h1"), confirmSeconds: 5, path: on.bin, ...more };
}

test("a change is made, looked at again, confirmed; and then there is nothing to do", async () => {
  ready();
  let connections = 0;
  const connect = async () => {
    connections++;
    return localShell("h1");
  };
  expect(await applyHost(await plan(), options({ connect }))).toMatchObject({
    status: "changed",
    result: "committed",
    changes: 2,
  });
  expect(connections).toBe(2);
  expect(hasChanges(await plan())).toBe(false);
  expect(await applyHost(await plan(), options())).toMatchObject({ status: "ok", result: "unchanged" });
});

test("what a host of this kind can never have is told, and left out of what there is to mend", async () => {
  ready();
  const fact = "the memory is not known: dmidecode is not installed";
  const resources = [
    ...wanted,
    file("/etc/two.conf", "x\n", { unavailable: fact }),
    file("/etc/three.conf", "x\n", { unavailable: "needs-vm: a container cannot set it" }),
    file("/etc/four.conf", "x\n", {
      unavailable: "waits for file:/etc/three.conf: needs-metal: no firmware",
    }),
  ];
  for (const result of ["committed", "unchanged"])
    expect(await applyHost(await plan(resources), options())).toMatchObject({
      result,
      unknowns: [`file:/etc/two.conf: ${fact}`],
      beyondHost: [
        "file:/etc/three.conf: needs-vm: a container cannot set it",
        "file:/etc/four.conf: waits for file:/etc/three.conf: needs-metal: no firmware",
      ],
    });
  // Whether it is right is another question, and not answered.
  const verdict = verdictOf(await plan(resources.filter(({ unavailable }) => unavailable !== fact)));
  expect(verdict).toMatchObject({ answer: "unknown", deviations: [{}, {}] });
});

test("what a rollback would take back can be asked before", async () => {
  ready();
  const here = { root: on.root, path: on.bin };
  expect(await lastChange(localShell("h1"), here)).toEqual({ transaction: undefined, resources: [] });
  const done = await applyHost(await plan(), options());
  expect(await lastChange(localShell("h1"), here)).toEqual({
    transaction: done.transaction,
    resources: ["file:/etc/one.conf"],
  });
  expect(await rollbackHost(localShell("h1"), here)).toMatchObject({ result: "rolled-back" });
  expect(await lastChange(localShell("h1"), here)).toMatchObject({ transaction: undefined });
});

test("a user that somebody else makes is looked for, and never made", async () => {
  ready();
  const [there, missing] = [existingUser("root"), existingUser("no-such-user-here")];
  const made = await plan([...wanted, there, missing]);
  expect(leftToOthers(made).map(({ resource }) => resource.id)).toEqual(["user:no-such-user-here"]);
  expect(verdictOf(made).deviations).toContainEqual({
    id: "user:no-such-user-here",
    answer: "no",
    because: expect.stringContaining("is not on this host"),
  });
  const named = [expect.stringMatching(/^user:no-such-user-here: is not on this host/)];
  const done = await applyHost(made, options());
  expect(done).toMatchObject({ status: "changed", changes: 2, leftToOthers: named });
  const after = await plan([...wanted, there, missing]);
  expect(await applyHost(after, options())).toMatchObject({ status: "ok", leftToOthers: named });
  expect(hasChanges(after)).toBe(false);
  expect(verdictOf(after)).toMatchObject({ answer: "no", right: 3 });
});

test("the answer of apply is lost, the host is well: the fresh connection finds out and confirms", async () => {
  ready();
  let first = true;
  const connect = async (): Promise<Remote> => {
    const remote = localShell("h1");
    if (!first) return remote;
    first = false;
    const exec: Remote["exec"] = async (request) => {
      await remote.exec(request);
      throw new EscapementError("E_HOST_LOST", { host: "h1", what: "apply", reason: "reset" });
    };
    return { ...remote, exec };
  };
  expect(await applyHost(await plan(), options({ connect }))).toMatchObject({
    status: "changed",
    result: "committed",
  });
});

test("no second connection comes up: the host has put everything back when it answers again", async () => {
  ready();
  let connections = 0;
  const connect = async (): Promise<Remote> => {
    connections++;
    if (connections > 1 && connections < 4)
      throw new EscapementError("E_HOST_UNREACHABLE", { host: "h1", reason: "refused", address: "h1:22" });
    if (connections === 4) await on.undo("timer");
    return localShell("h1");
  };
  expect(await applyHost(await plan(), options({ connect }))).toMatchObject({
    status: "failed",
    result: "reverted",
  });
  expect(on.text("/etc/one.conf")).toBe("old\n");
  expect(on.text("running/one.service")).toBe("old\n");
});

test("stopped while it is being confirmed: it ends at once, and the host puts everything back", async () => {
  ready();
  let connections = 0;
  const connect = async (): Promise<Remote> => {
    if (++connections === 1) return localShell("h1");
    throw new EscapementError("E_INTERRUPTED", { signal: "request" });
  };
  expect(await applyHost(await plan(), options({ connect }))).toMatchObject({
    status: "unknown",
    result: "lost",
    reason: expect.stringContaining("puts everything back by itself"),
  });
  expect(connections).toBe(2);
});

test("a change that does not hold is put back at once", async () => {
  ready();
  const planned = await plan();
  // Something on the host writes its own text as soon as the service restarts.
  const systemctl = on.text("bin/systemctl")!;
  on.program(
    "systemctl",
    systemctl.replace(
      "exit $code",
      `case $verb in try-restart) echo meddled >${on.root}/etc/one.conf;; esac\nexit $code`,
    ),
  );
  const ended = await applyHost(planned, options());
  expect(ended).toMatchObject({
    status: "failed",
    result: "reverted",
    reason: expect.stringContaining("file:/etc/one.conf"),
  });
});

test("a host that cannot be reached was not begun", async () => {
  ready();
  const connect = async () => {
    throw new EscapementError("E_HOST_UNREACHABLE", { host: "h1", reason: "no route", address: "h1:22" });
  };
  expect(await applyHost(await plan(), options({ connect }))).toMatchObject({
    status: "unreachable",
    result: "not-started",
  });
});

test("the runner dies in the middle: the next contact puts all back at once, and the outcome says so", async () => {
  ready();
  const ended = await applyHost(await plan(), options({ stopAt: 7, confirmSeconds: 60 }));
  expect(ended).toMatchObject({ status: "failed", result: "reverted", changes: 0 });
  expect(on.text("/etc/one.conf")).toBe("old\n");
  const early = await applyHost(await plan(), options({ stopAt: 1 }));
  expect(early).toMatchObject({ status: "failed", result: "refused" });
});

test("a full disk refuses the change before it begins", async () => {
  ready();
  on.program("cp", "#!/bin/sh\necho 'cp: No space left on device' >&2\nexit 1\n");
  const before = on.text("/etc/one.conf");
  expect(await applyHost(await plan(), options())).toMatchObject({
    status: "failed",
    result: "refused",
    reason: expect.stringMatching(/No space left|cannot write/),
  });
  expect(on.text("/etc/one.conf")).toBe(before);
  expect(on.transactions()).toEqual([]);
});

test("packages: installed with services held, lock held and missing lists told apart, taken off again", async () => {
  ready();
  const apt = (body: string) =>
    on.program(
      "apt-get",
      `#!/bin/sh\necho "$*" >>@ROOT@/apt.log\nls @ROOT@/usr/sbin >>@ROOT@/apt.log\n${body}\n`,
    );
  on.program(
    "dpkg-query",
    `#!/bin/sh\ncase "$*" in *--*) [ -e @ROOT@/has ] && printf 'package\\tchrony\\tinstalled\\t4.3\\n' || echo 'dpkg-query: no packages found matching chrony' >&2;; *) echo 'base installed'; [ ! -e @ROOT@/has ] || echo 'chrony installed'; [ ! -e @ROOT@/has ] || echo 'libx installed';; esac\n`,
  );
  on.program("dpkg", `#!/bin/sh\necho "$*" >>@ROOT@/dpkg.log\nrm -f @ROOT@/has\n`);
  const resources: readonly Resource[] = [
    { ...wanted[0]!, after: ["package:chrony"] },
    {
      kind: "package",
      id: "package:chrony",
      name: "chrony",
      state: "installed",
      risk: "low",
      noop: "",
      after: [],
      restarts: [],
      provenance: [],
    },
  ];
  apt(`echo 'E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1' >&2; exit 100`);
  expect(await applyHost(await plan(resources), options({ lockSeconds: 1 }))).toMatchObject({
    result: "reverted",
    reason: expect.stringContaining("holds the lock of apt"),
  });
  apt(
    `case "$*" in *update) : >@ROOT@/lists;; *) [ -e @ROOT@/lists ] || { echo 'E: Unable to locate package chrony'; exit 100; }; : >@ROOT@/has;; esac`,
  );
  const planned = await plan(resources);
  expect(planned.entries[0]!.judged.notPreviewable).toMatch(/pulls in/);
  const done = await applyHost(planned, options());
  expect(done).toMatchObject({ result: "committed" });
  expect(on.text("/apt.log")).toMatch(/policy-rc\.d/);
  expect(on.text("/usr/sbin/policy-rc.d")).toBeUndefined();
  expect(hasChanges(await plan(resources))).toBe(false);
  await localShell().exec({
    argv: ["sh", `${on.paths.state}/txn/${done.transaction}/undo.sh`, "rollback"],
    deadlineMs: 20_000,
  });
  expect(on.text("/dpkg.log")).toBe("--remove --force-remove-reinstreq chrony libx\n");
  expect(on.text("/etc/one.conf")).toBe("old\n");
});
