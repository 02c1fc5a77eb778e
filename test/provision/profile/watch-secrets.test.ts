/** The keys that a watch file names go beside it on the host, and are seen nowhere else. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { hostPaths } from "../../../src/provision/bundle/probe.ts";
import { Reading } from "../../../src/provision/bundle/reading.ts";
import { planHost } from "../../../src/provision/plan/host-plan.ts";
import { planDocument } from "../../../src/provision/plan/plan-file.ts";
import { factsOf } from "./machines.ts";
import { compileFor, fileAt, inventoryOf, siteHosts, siteSettings } from "./site.ts";

const channels = `    - { name: chat, type: webhook, url: https://alerts.example.com/in, secretFile: keys/chat.key }
    - { name: page, type: pagerduty, routingKeyFile: page.key }
    - { name: mail, type: smtp, host: mx, port: 587, security: starttls, caFile: ca.pem, user: w, passwordFile: mail.password, from: a@example.com, to: [b@example.com] }
    - { name: far, type: slack, urlFile: /etc/elsewhere/slack.url }`;

const watch = (lines: string) => `apiVersion: escapement/v1
kind: Watch
metadata: { name: site }
spec:
  spoolFile: /var/lib/escapement-watchman/spool
  channels:
${lines}
  heartbeat: { urlFile: beat.url }
  routes:
    - channels: [chat]
`;

function site(files: Readonly<Record<string, string | Buffer>>, text = watch(channels)): string {
  const folder = mkdtempSync(join(tmpdir(), "watch-secrets-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, "keys"));
  for (const [name, content] of Object.entries({ "watch.yaml": text, ...files }))
    writeFileSync(join(folder, name), content, { mode: 0o600 });
  return folder;
}

const compiled = (folder: string) =>
  compileFor("watch", factsOf("small"), {
    inventory: inventoryOf(siteHosts, { ...siteSettings, watchFile: join(folder, "watch.yaml") }),
  });

const keys = {
  "keys/chat.key": "chat-key\n",
  "page.key": "page-key",
  "mail.password": "mail-password",
  "ca.pem": "a certificate",
  "beat.url": "https://beat.example.com/beat-secret",
};

test("each goes there as root's, for the toolkit's group alone; the service waits for it", async () => {
  const found = await compiled(site(keys));
  expect(found.notes).toEqual([]);
  const unit = fileAt(found, "/etc/systemd/system/escapement-watchman.service");
  for (const [name, content] of Object.entries(keys)) {
    const isSecret = name !== "ca.pem";
    const file = fileAt(found, `/etc/escapement/${name}`);
    expect(file).toMatchObject({ content, owner: "root", mode: isSecret ? 0o640 : 0o644 });
    expect(file).toMatchObject(isSecret ? { secret: true, group: "escapement" } : { group: "root" });
    expect(unit.after).toContain(file.id);
  }
  // What is named by an absolute path the host has from elsewhere.
  expect(found.resources.some(({ id }) => id.includes("slack.url"))).toBe(false);
});

test("no plan shows one: not its lines, its diff, its file or where a value came from", async () => {
  const { resources, notes } = await compiled(site(keys));
  const mine = resources.filter(({ id }) => Object.keys(keys).some((name) => id.endsWith(`/${name}`)));
  const lines = mine.map(
    ({ id }) => `stat: cannot statx '${id.replace("file:", "")}': No such file or directory`,
  );
  const plan = planHost("watch", mine, new Reading(lines, hostPaths()));
  const shown = JSON.stringify(
    planDocument({
      host: "watch",
      status: "ok",
      durationMs: 1,
      value: { plan, facts: factsOf("small"), notes } as never,
    }),
  );
  expect(plan.entries).toHaveLength(5);
  expect(shown).toContain("a certificate");
  for (const secret of ["chat-key", "page-key", "mail-password", "beat-secret"])
    expect(shown + JSON.stringify(mine.map(({ provenance }) => provenance))).not.toContain(secret);
});

test("one that is not beside the file, or that others may read, is told", async () => {
  const { "page.key": _, ...others } = keys;
  const folder = site(others);
  chmodSync(join(folder, "mail.password"), 0o644);
  const found = await compiled(folder);
  expect(found.resources.some(({ id }) => id.includes("page.key"))).toBe(false);
  expect(found.notes).toMatchObject([
    {
      severity: "warning",
      text: expect.stringMatching(/^page.key.*is not beside it.*\/etc\/escapement\/page.key/),
    },
    { severity: "warning", text: expect.stringMatching(/mail.password.*others may read it.*chmod 600/) },
  ]);
});

test.each([
  ["store-url", "error", /is a file of the toolkit's own/],
  ["../shadow", "warning", /leads out of \/etc\/escapement/],
])("a key of the name %s takes nothing's place", async (name, severity, text) => {
  const line = `    - { name: chat, type: webhook, url: https://alerts.example.com/in, secretFile: ${name} }`;
  const found = await compiled(site({ "store-url": "x", "beat.url": "https://b.example.com/" }, watch(line)));
  expect(found.notes).toMatchObject([{ severity, text: expect.stringMatching(text) }]);
  expect(found.resources.some(({ id }) => /store-url|shadow/.test(id))).toBe(false);
});

test("what is no text is unknown, never sent as something else", async () => {
  const found = await compiled(site({ ...keys, "page.key": Buffer.from([0x61, 0xff, 0x62]) }));
  expect(fileAt(found, "/etc/escapement/page.key").unavailable).toContain("is not text in UTF-8");
});
