/** The ready-made steps: they are YAML, and every command in them is one that this program understands. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { formatFiles } from "../../../src/cli/checklist/formats.ts";
import { build } from "../../../src/cli/checklist.ts";
import { storeUrl } from "../../../src/cli/store-url.ts";
import { parseYaml } from "../../../src/spec/yaml.ts";

const folder = "docs/ci";
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));

/** Every `escapement checklist …` of a text: words without variables' values, and the shell's line ends. */
function commandsOf(value: unknown): string[][] {
  if (typeof value === "string") {
    const text = value.replace(/\\\n\s*/g, " ");
    return [...text.matchAll(/^\s*escapement (checklist [^\n]*)/gm)].map((one) =>
      one[1]!
        .trim()
        .split(/\s+/)
        .map((word) => word.replaceAll('"', "")),
    );
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(commandsOf);
}

test("there are steps for both", () => {
  expect(files.sort()).toEqual(["github-actions.yaml", "github-release.yaml", "gitlab-ci.yaml"]);
});

describe.each(files)("%s", (name) => {
  const { documents, problems } = parseYaml(readFileSync(join(folder, name), "utf8"), name);
  const value = documents[0]?.value;

  test("is one YAML document without problems", () => {
    expect(problems).toEqual([]);
    expect(documents.length).toBe(1);
  });

  test("every command in it is understood", async () => {
    const commands = commandsOf(value);
    expect(commands.length).toBeGreaterThan(0);
    for (const [, ...words] of commands) {
      const asked: unknown[] = [];
      const command = build().exitOverride();
      for (const one of [command, ...command.commands]) {
        one.exitOverride().configureOutput({ writeErr: () => {} });
        one.action((...args: unknown[]) => void asked.push(args));
      }
      await command.parseAsync(words, { from: "user" });
      expect(asked.length, words.join(" ")).toBe(1);
    }
  });

  test("files that it takes from the report are files that are written", () => {
    const named = [...readFileSync(join(folder, name), "utf8").matchAll(/checklist-report\/([\w.-]+)/g)].map(
      (one) => one[1]!,
    );
    for (const file of named) expect(Object.values(formatFiles)).toContain(file);
  });
});

test("GitHub: the gate is the last step, always runs, and everything else is kept before", () => {
  const { documents } = parseYaml(readFileSync(join(folder, "github-actions.yaml"), "utf8"), "x");
  const { jobs } = documents[0]!.value as {
    jobs: { checklist: { steps: { name?: string; if?: string }[] } };
  };
  expect(jobs.checklist.steps.at(-1)).toMatchObject({ name: "Gate", if: "always()" });
});

test("GitLab: artefacts are kept when the gate fails", () => {
  const { documents } = parseYaml(readFileSync(join(folder, "gitlab-ci.yaml"), "utf8"), "x");
  expect(documents[0]!.value).toMatchObject({
    checklist: { artifacts: { when: "always", reports: { junit: expect.stringMatching(/\.xml$/) } } },
  });
});

describe.each(["ci/github-actions.yaml", "ci/gitlab-ci.yaml", "checklist.md"])("the store of %s", (name) => {
  const text = readFileSync(join("docs", name), "utf8");
  const url = "postgres://checklist@db.example/records";
  let away: string;
  beforeEach(() => {
    away = mkdtempSync(join(tmpdir(), "ci-steps-"));
    vi.stubEnv("ESCAPEMENT_STORE_URL", url);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(away, { recursive: true });
  });
  const storeOf = (store: string) => {
    const cluster = join(away, "cluster.yaml");
    writeFileSync(
      cluster,
      `apiVersion: escapement/v1
kind: Cluster
metadata: { name: small }
spec:
  ${store}
  scheduler: { nodes: [{ name: s, http: { address: 127.0.0.1, port: 7101 } }] }
  executor: { nodes: [{ name: e, slots: { cpu: 1, memory: 0, io: 0 }, workDirectory: w }] }
  logs: { directory: logs }
`,
    );
    return storeUrl({ cluster });
  };

  test("is the secret, with the cluster file that it asks for, and not with that of a host", async () => {
    const asked = [...text.matchAll(/store: \{ .*? \}/g)].map(([line]) => line);
    expect(asked.length).toBe(1);
    expect(await storeOf(asked[0]!)).toBe(url);
    await expect(storeOf("store: { urlFile: store-url }")).rejects.toThrow(/store-url/);
  });
});
