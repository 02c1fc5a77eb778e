import { panel } from "../text/panel.ts";
import type { Screen } from "./screen.ts";

export const hostsScreen: Screen<never> = {
  name: "hosts",
  title: "Hosts",
  sorts: [],
  rows: () => ({ rows: [], keys: [] }),
  listHeight: (_, area) => area.height - 3,
  draw: (_, area) => panel({ title: "hosts", width: area.width, height: area.height }, []),
  open: () => null,
  subject: () => ({}),
  command: () => [],
};
