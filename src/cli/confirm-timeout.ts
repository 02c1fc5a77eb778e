/** The option of commands that change hosts: how long a change waits to be confirmed, in whole seconds. */
import { InvalidArgumentError } from "commander";
import { parseDuration } from "../base/duration.ts";

/** @throws InvalidArgumentError beyond 5 seconds to an hour */
export function confirmSeconds(text: string): number {
  const value = Math.ceil(parseDuration(text) / 1000);
  if (value < 5 || value > 3_600) throw new InvalidArgumentError("must be from 5s to 1h");
  return value;
}
