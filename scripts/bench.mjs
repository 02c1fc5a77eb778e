/** Runs one benchmark: `npm run bench -- NAME`; without a name it lists them. They are the files of bench/. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { bundleAndRun } from "./bundle-and-run.mjs";

const folder = fileURLToPath(new URL("../bench/", import.meta.url));
const [name, ...args] = process.argv.slice(2);

if (name !== undefined && existsSync(`${folder}${name}.ts`)) {
  await bundleAndRun(`bench/${name}.ts`, args);
} else {
  if (name !== undefined) console.error(`error: there is no benchmark ${name}`);
  console.log("npm run bench -- NAME, where NAME is one of:");
  for (const file of readdirSync(folder).filter((entry) => entry.endsWith(".ts"))) {
    console.log(`  ${file.slice(0, -3).padEnd(16)} ${firstSentence(`${folder}${file}`)}`);
  }
  process.exitCode = name === undefined ? 0 : 64;
}

/** The first line of the comment at the head of the file. */
function firstSentence(file) {
  const comment = /\/\*\*\s*(?:\*\s*)?([^\n]+)/.exec(readFileSync(file, "utf8"));
  return (comment?.[1] ?? "").replace(/\s*\*\/$/, "");
}
