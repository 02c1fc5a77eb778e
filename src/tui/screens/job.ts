import { panel } from "../text/panel.ts";
import type { Screen } from "./screen.ts";

export const jobScreen: Screen<never> = {
  name: "job",
  title: "Job",
  sorts: [],
  rows: () => ({ rows: [], keys: [] }),
  listHeight: (_, area) => area.height - 3,
  draw: (_, area) => panel({ title: "job", width: area.width, height: area.height }, []),
  open: () => null,
  subject: () => ({}),
  command: () => [],
};
