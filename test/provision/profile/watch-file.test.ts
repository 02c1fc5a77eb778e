/** What the watchman's host gets to judge by, and that the toolkit itself takes it. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readWatchFile } from "../../../src/watchman/watch-file.ts";
import { runEscapement } from "../../support/processes.ts";
import { factsOf } from "./machines.ts";
import { compileFor, fileAt, inventoryOf, siteHosts, siteSettings } from "./site.ts";

const path = "/etc/escapement/watch.yaml";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "watch-file-"));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

test("the site's own file goes there as it is, for the watchman alone to read", async () => {
  const file = fileAt(await compileFor("watch", factsOf("small")), path);
  expect(file).toMatchObject({ mode: 0o640, owner: "root", group: "escapement" });
  expect(file.content).toBe(readFileSync(siteSettings.watchFile, "utf8"));
  expect(file.restarts).toEqual([{ unit: "escapement-watchman.service", action: "try-restart" }]);
});

test("without one alerts go into the journal, the operator hears of it, and the file is right", async () => {
  const { watchFile: _, ...settings } = siteSettings;
  const compiled = await compileFor("watch", factsOf("small"), {
    inventory: inventoryOf(siteHosts, settings),
  });
  expect(compiled.notes.map(({ text }) => text).join()).toContain("no setting watchFile");
  const copy = join(folder(), "watch.yaml");
  writeFileSync(copy, fileAt(compiled, path).content);
  const { watch, problems } = await readWatchFile(copy);
  expect(problems).toEqual([]);
  expect(watch?.channels).toMatchObject([{ type: "exec" }]);
  // Where its unit may write.
  const unit = fileAt(compiled, "/etc/systemd/system/escapement-watchman.service").content;
  expect(watch?.spoolFile).toBe("/var/lib/escapement-watchman/spool");
  expect(unit).toContain("StateDirectory=escapement-watchman\n");
});

test("a file that is not there is unknown, with its place, and so is the service that waits for it", async () => {
  const inventory = inventoryOf(siteHosts, { ...siteSettings, watchFile: "nowhere.yaml" });
  const compiled = await compileFor("watch", factsOf("small"), { inventory });
  const missing = expect.stringMatching(/setting watchFile at site.yaml:\d+:\d+: .*nowhere.yaml/);
  expect(fileAt(compiled, path).unavailable).toEqual(missing);
  const unit = compiled.resources.find(({ id }) => id === "unit:escapement-watchman.service");
  expect(unit?.unavailable).toContain("nowhere.yaml");
});

test("the host's toolkit refuses a wrong one before it is put in place, and says where", async () => {
  const { validator } = fileAt(await compileFor("watch", factsOf("small")), path);
  const words = validator!.argv.slice(2, -1);
  const place = folder();
  // Staged under a name of its own.
  const staged = join(place, "17");
  writeFileSync(staged, readFileSync(siteSettings.watchFile, "utf8"));
  expect(await runEscapement([...words, staged])).toMatchObject({ code: 0 });
  writeFileSync(staged, readFileSync(siteSettings.watchFile, "utf8").replace("[chat]", "[chatt]"));
  const { code, stderr } = await runEscapement([...words, staged]);
  expect(code).toBe(65);
  expect(stderr).toMatch(/17:9:18 .*is not one of the channels.*did you mean chat/s);
});
