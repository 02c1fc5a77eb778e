/** Rules for files as such: short, well named, and free of anything that belongs to one machine. */
import { expect, test } from "vitest";
import { read, repositoryFiles } from "./repository.ts";

const files = repositoryFiles();
const code = files.filter((path) => /\.(ts|tsx|mjs|js|sh)$/.test(path));
const texts = files.filter((path) => !/\.(png|jpg|gif|ico|woff2?|xlsx|gz|tgz|zip)$/.test(path));

test("no file of code is longer than 300 lines", () => {
  const long = code
    .map((path) => [path, read(path).split("\n").length - 1] as const)
    .filter(([, lines]) => lines > 300);
  expect(long).toEqual([]);
});

test("no file or folder is named after nothing in particular", () => {
  const vague = /(^|\/)(utils?|helpers?|commons?|misc|shared|stuff|types)(\.|\/|$)/;
  expect(code.filter((path) => vague.test(path))).toEqual([]);
});

test("files and folders are named in kebab-case", () => {
  const own = code.filter((path) => /^(src|test|scripts|bench|bin|examples)\//.test(path));
  expect(
    own.filter((path) => !path.split("/").every((part) => /^[a-z0-9]+(?:[-.][a-z0-9]+)*$/.test(part))),
  ).toEqual([]);
});

test("nothing that is tracked names a path of one machine or the host of a package registry", () => {
  // Written in pieces, so that this file does not find itself.
  const forbidden = [
    ["/", "work/[a-z]"],
    ["/", "root/[a-z.]"],
    ["/", "home/[a-z]+/"],
    ["/", "Users/[A-Za-z]+/"],
    ["registry", "\\.[a-z0-9-]+\\.[a-z]{2,}"],
    ["(?:npm", "js|yarnpkg)\\.(?:org|com)"],
    ["deb\\.", "debian\\.org"],
  ].map((pieces) => new RegExp(pieces.join("")));
  const found = texts.flatMap((path) =>
    read(path)
      .split("\n")
      .flatMap((line, i) =>
        forbidden.some((one) => one.test(line)) ? [`${path}:${i + 1}: ${line.trim().slice(0, 120)}`] : [],
      ),
  );
  expect(found).toEqual([]);
});
