/** Documentation keeps its promises: the two commands of the README, and links that lead somewhere. */
import { existsSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, test } from "vitest";
import { read, repositoryFiles, root } from "./repository.ts";

const pages = repositoryFiles().filter((path) => path.endsWith(".md"));

test("the README names the two commands that a newcomer needs", () => {
  const readme = read("README.md");
  expect(readme).toMatch(/^(\$ )?npm run demo\b/m);
  expect(readme).toMatch(/^(\$ )?npm test\b/m);
});

test("every npm script that a page names exists", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const unknown = pages.flatMap((page) =>
    [...read(page).matchAll(/\bnpm run ([a-z][a-z:-]*)/g)]
      .filter((match) => !(match[1]! in scripts))
      .map((match) => `${page}: ${match[0]}`),
  );
  expect(unknown).toEqual([]);
});

test("every link inside the repository leads to a file and a heading that exist", () => {
  const broken: string[] = [];
  for (const page of pages) {
    const prose = read(page).replace(/^(```|~~~)[\s\S]*?^\1/gm, "");
    for (const [, target = ""] of prose.matchAll(/\]\(([^)\s]+)(?:\s+"[^"]*")?\)/g)) {
      if (/^[a-z][a-z0-9+.-]*:/i.test(target)) continue;
      const [path = "", anchor] = target.split("#");
      const file =
        path === "" ? page : posix.normalize(posix.join(posix.dirname(page), decodeURIComponent(path)));
      if (file.startsWith("..") || !existsSync(join(root, file))) broken.push(`${page}: ${target}`);
      else if (anchor && file.endsWith(".md") && !anchorsOf(read(file)).has(anchor))
        broken.push(`${page}: ${target}`);
    }
  }
  expect(broken).toEqual([]);
});

/** Headings as the usual renderers turn them into anchors. */
function anchorsOf(markdown: string): Set<string> {
  const headings = markdown.replace(/^(```|~~~)[\s\S]*?^\1/gm, "").matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm);
  return new Set(
    [...headings].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}
