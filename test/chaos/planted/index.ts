/**
 * One fault planted into a correct history: for every class several ways to
 * produce it. Each changes the history in place and must lead to findings of
 * its own class and of no other.
 */
import { claims } from "./claims.ts";
import { missing } from "./missing.ts";
import type { PlantedFault } from "./place.ts";
import { surplus } from "./surplus.ts";
import { timing } from "./timing.ts";

export const plantedFaults: readonly PlantedFault[] = [...missing, ...surplus, ...claims, ...timing];
