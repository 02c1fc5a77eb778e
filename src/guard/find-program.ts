/** Finds a program the way a shell does, before anything depends on it being there. */
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The file that `command` stands for, or undefined when there is none that may be executed. */
export function findProgram(
  command: string,
  searchPath: string | undefined = process.env.PATH,
): string | undefined {
  if (command.includes("/")) return isExecutable(command) ? command : undefined;
  return (searchPath ?? "")
    .split(delimiter)
    .map((folder) => join(folder === "" ? "." : folder, command))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
