/** Every action and check that a playbook may name. */
import type { HostWorld } from "../host-world.ts";
import type { Registry } from "../registry.ts";
import { executorActions, executorChecks } from "./executors.ts";
import { hostActions, hostChecks } from "./hosts.ts";
import { jobActions, jobChecks } from "./jobs.ts";
import { schedulerActions, schedulerChecks } from "./schedulers.ts";
import { storeActions, storeChecks } from "./store.ts";

export const registry: Registry<HostWorld> = {
  actions: new Map([...hostActions, ...storeActions, ...schedulerActions, ...executorActions, ...jobActions]),
  checks: new Map([...hostChecks, ...storeChecks, ...schedulerChecks, ...executorChecks, ...jobChecks]),
};
