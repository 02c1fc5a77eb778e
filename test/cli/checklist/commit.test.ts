/** What a report is bound to: every file that was read, held against the commit itself. */
import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readDefinitions } from "../../../src/cli/checklist/definitions.ts";
import { fullJob } from "../../spec/full-job.ts";

let folder: string;
const inFolder = (path: string) => join(folder, path);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "checklist-commit-"));
  const job = fullJob() as { spec: Record<string, unknown> };
  write("jobs/a.yaml", JSON.stringify({ ...job, spec: { ...job.spec, docs: "docs/a.md#late" } }));
  write("docs/a.md", "# Late\nskip\n");
  for (const path of sources(job)) write(path, "SELECT 1;\n");
  write("profiles/p.yaml", "# nothing yet\n");
  write(
    "waivers.yaml",
    "apiVersion: escapement/v1\nkind: Waivers\nmetadata: { name: w }\nspec: { waivers: [] }\n",
  );
  git("init", "-q");
  git("add", ".");
  git("commit", "-qm", "all of it");
});
afterEach(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(inFolder(path)), { recursive: true });
  writeFileSync(inFolder(path), text);
}

function git(...args: string[]): void {
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.test", ...args], { cwd: folder });
}

function sources({ spec }: { spec: Record<string, unknown> }): string[] {
  return (spec.effects as { sources: string[] }[]).flatMap((effect) => effect.sources);
}

async function bound(): Promise<{ clean: boolean | null; digest: string }> {
  const { commit, definitions } = await readDefinitions([inFolder("jobs")], {
    profiles: [inFolder("profiles")],
    waivers: inFolder("waivers.yaml"),
  });
  return { clean: commit.clean, digest: definitions.digest };
}

test("nothing was changed, and the same files give the same digest", async () => {
  const before = await bound();
  expect(before.clean).toBe(true);
  expect(await bound()).toEqual(before);
});

test("each file that is read counts, in the digest and against the commit", async () => {
  const before = await bound();
  const [source] = sources(fullJob() as never);
  for (const path of [source!, "docs/a.md", "profiles/p.yaml", "waivers.yaml", "jobs/a.yaml"]) {
    execFileSync("sh", ["-c", 'printf "\\n" >> "$1"', "sh", inFolder(path)]);
    const after = await bound();
    expect([path, after.clean]).toEqual([path, false]);
    expect(after.digest).not.toBe(before.digest);
    git("checkout", "-q", "--", path);
  }
  expect(await bound()).toEqual(before);
});

test.each([
  ["below the root", ["sh", "code/look.sh"], undefined],
  ["below its folder", ["sh", "look.sh"], "code"],
])("code that item 6 reads of a job without effects counts, %s", async (_, command, workingDirectory) => {
  const job = fullJob() as { spec: Record<string, unknown> };
  write(
    "jobs/a.yaml",
    JSON.stringify({ ...job, spec: { ...job.spec, command, workingDirectory, effects: [] } }),
  );
  write("code/look.sh", "psql -c 'SELECT 1'\n");
  git("add", ".");
  git("commit", "-qm", "a job that only looks");
  const before = await bound();
  expect(before.clean).toBe(true);
  write("code/look.sh", "psql -c 'SELECT 2'\n");
  const after = await bound();
  expect(after.clean).toBe(false);
  expect(after.digest).not.toBe(before.digest);
  git("rm", "-qf", "--cached", "code/look.sh");
  git("commit", "-qm", "without its code");
  expect((await bound()).clean).toBe(false);
});

test("folders and words that no file can be called are no code", async () => {
  const job = fullJob() as { spec: Record<string, unknown> };
  const command = ["sh", "docs", "x".repeat(5_000), "/etc/passwd", "../x"];
  write("jobs/a.yaml", JSON.stringify({ ...job, spec: { ...job.spec, command, effects: [] } }));
  git("add", ".");
  git("commit", "-qm", "odd words");
  const before = await bound();
  expect(before.clean).toBe(true);
  write("docs/more.md", "# More\n");
  expect(await bound()).toEqual(before);
});

test("marks and lists of git hide no change", async () => {
  git("update-index", "--assume-unchanged", "docs/a.md");
  write("docs/a.md", "# Late\nrun-now\n");
  expect((await bound()).clean).toBe(false);
  write("docs/a.md", "# Late\nskip\n");
  expect((await bound()).clean).toBe(true);
  write(".git/info/exclude", "jobs/ignored.yaml\n");
  write("jobs/ignored.yaml", "# of nobody\n");
  expect((await bound()).clean).toBe(false);
});

test("what the commit has and the folder has not is a change", async () => {
  write("jobs/b.yaml", JSON.stringify({ ...fullJob(), metadata: { name: "b" } }));
  git("add", ".");
  git("commit", "-qm", "one more");
  expect((await bound()).clean).toBe(true);
  rmSync(inFolder("jobs/b.yaml"));
  expect((await bound()).clean).toBe(false);
  git("checkout", "-q", "--", ".");
  rmSync(inFolder("docs/a.md"));
  expect((await bound()).clean).toBe(false);
});

test("a page that is a link to another file is not of the commit", async () => {
  const away = mkdtempSync(join(tmpdir(), "checklist-away-"));
  writeFileSync(join(away, "a.md"), "# Late\nskip\n");
  rmSync(inFolder("docs/a.md"));
  symlinkSync(join(away, "a.md"), inFolder("docs/a.md"));
  expect((await bound()).clean).toBe(false);
  rmSync(away, { recursive: true });
  rmSync(inFolder("docs/a.md"));
  symlinkSync("../waivers.yaml", inFolder("docs/a.md"));
  expect((await bound()).clean).toBe(false);
});

test("outside of a repository nobody can tell", async () => {
  rmSync(inFolder(".git"), { recursive: true });
  expect((await bound()).clean).toBe(null);
});

test("where git does not answer one of the questions nobody can tell", async () => {
  const tree = execFileSync("git", ["rev-parse", "HEAD^{tree}"], { cwd: folder, encoding: "utf8" }).trim();
  // The commit can be read, and what it has cannot.
  rmSync(inFolder(`.git/objects/${tree.slice(0, 2)}/${tree.slice(2)}`));
  expect((await bound()).clean).toBe(null);
});

test("git's list of files is not written", async () => {
  const before = readFileSync(inFolder(".git/index"));
  // By these alone git would have to look at the content again, and note that.
  utimesSync(inFolder("jobs/a.yaml"), 1, 1);
  expect((await bound()).clean).toBe(true);
  expect(readFileSync(inFolder(".git/index")).equals(before)).toBe(true);
});

describe("a link on the way to a file", () => {
  const page = (path: string) => {
    const job = fullJob() as { spec: Record<string, unknown> };
    write("jobs/a.yaml", JSON.stringify({ ...job, spec: { ...job.spec, docs: path } }));
  };
  const link = (target: string, path: string) => {
    rmSync(inFolder(path), { force: true });
    symlinkSync(target, inFolder(path));
  };
  const commit = () => {
    git("add", ".");
    git("commit", "-qm", "links");
  };
  const other = JSON.stringify({ ...fullJob(), metadata: { name: "other" } });

  test("is a change when the commit has it not, though it has what it leads to", async () => {
    page("docs/b.md#late");
    commit();
    link("a.md", "docs/b.md");
    expect((await bound()).clean).toBe(false);
    commit();
    expect((await bound()).clean).toBe(true);
  });

  test("is a change when it leads to another page of the commit, whatever git was told to assume", async () => {
    page("docs/b.md#late");
    write("docs/c.md", "# Late\nrun-now\n");
    link("a.md", "docs/b.md");
    commit();
    expect((await bound()).clean).toBe(true);
    git("update-index", "--assume-unchanged", "docs/b.md");
    link("c.md", "docs/b.md");
    expect((await bound()).clean).toBe(false);
  });

  test.each([
    ["a folder with other jobs", "../other"],
    ["a folder without any", "../docs"],
    ["nothing", "../gone"],
  ])("is a change when it was a folder of jobs and leads to %s", async (_, target) => {
    write("more/b.yaml", JSON.stringify({ ...fullJob(), metadata: { name: "b" } }));
    write("other/c.yaml", other);
    link("../more", "jobs/sub");
    commit();
    expect((await bound()).clean).toBe(true);
    link(target, "jobs/sub");
    expect((await bound()).clean).toBe(false);
  });

  test("does not hide that a file is gone from the folder it leads to", async () => {
    for (const name of ["b", "c"])
      write(`more/${name}.yaml`, JSON.stringify({ ...fullJob(), metadata: { name } }));
    link("../more", "jobs/sub");
    commit();
    expect((await bound()).clean).toBe(true);
    rmSync(inFolder("more/c.yaml"));
    expect((await bound()).clean).toBe(false);
  });

  test("is no file with the text of the link", async () => {
    page("docs/b.md#late");
    link("a.md", "docs/b.md");
    commit();
    rmSync(inFolder("docs/b.md"));
    write("docs/b.md", "a.md");
    expect((await bound()).clean).toBe(false);
  });

  test("is none of ours above the repository", async () => {
    const above = `${folder}-link`;
    symlinkSync(folder, above);
    try {
      const { commit: found } = await readDefinitions([join(above, "jobs")], {});
      expect(found.clean).toBe(true);
    } finally {
      rmSync(above);
    }
  });
});
