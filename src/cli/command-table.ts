/** Every command of the product, one line each, in the order of the overview. */
import type { CommandEntry } from "./command.ts";

export const commandTable: readonly CommandEntry[] = [
  {
    name: "jobs",
    summary: "check, plan, apply and list job files; pause, resume, delete",
    load: () => import("./jobs.ts"),
  },
];
