/** What a host lets drills do to it, as a section of its profile. */
import { z } from "zod";
import { choice, duration, expectation, size, wholeNumber } from "./scalar-schema.ts";

const absolutePath = z
  .string()
  .regex(/^\/[A-Za-z0-9._/-]+$/)
  .register(expectation, { what: "an absolute path of plain characters" })
  .describe("A directory.");
const serviceName = z
  .string()
  .regex(/^[A-Za-z0-9@._-]+\.service$/)
  .register(expectation, { what: "the name of a service, such as escapement-executor.service" })
  .describe("A unit of systemd.");

export const drills = z.strictObject({
  faults: z
    .array(
      choice(
        ["kill", "stop", "pause", "cut", "clock", "power", "fill-disk", "memory-limit"],
        "A fault that a signed order may ask of this host.",
      ),
    )
    .describe("Anything else is refused by the host itself."),
  units: z.array(serviceName).describe("Units that may be killed, stopped, paused or limited."),
  paths: z.array(absolutePath).describe("Directories whose file system may be filled."),
  maxHold: duration("The longest that a fault may last.", { min: 1_000, max: 86_400_000 }),
  maxLimit: duration("The latest that the host comes back by itself.", { min: 1_000, max: 86_400_000 }),
  maxOffset: duration("The farthest that the clock may be moved.", { min: 1_000, max: 86_400_000 }),
  reserve: size(
    "What a filled file system keeps free at least; with less on its own disk a host takes no drill.",
  ),
  maxLoad: wholeNumber(1, 10_000, "Load for each processor above which a host takes no drill, and ends one."),
});
