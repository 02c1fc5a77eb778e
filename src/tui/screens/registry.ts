/** Which module draws which screen. */
import { currentView, type ScreenName, type State } from "../state/state.ts";
import { alertsScreen } from "./alerts.ts";
import { capacityScreen } from "./capacity.ts";
import { checklistScreen } from "./checklist.ts";
import { drillScreen } from "./drill.ts";
import { drillsScreen } from "./drills.ts";
import { executionScreen } from "./execution.ts";
import { hostsScreen } from "./hosts.ts";
import { itemScreen } from "./item.ts";
import { jobScreen } from "./job.ts";
import { jobsScreen } from "./jobs.ts";
import { overviewScreen } from "./overview.ts";
import type { Screen } from "./screen.ts";

const screens: Record<ScreenName, () => Screen> = {
  overview: () => overviewScreen,
  jobs: () => jobsScreen,
  job: () => jobScreen,
  execution: () => executionScreen,
  hosts: () => hostsScreen,
  drills: () => drillsScreen,
  drill: () => drillScreen,
  checklist: () => checklistScreen,
  item: () => itemScreen,
  alerts: () => alertsScreen,
  capacity: () => capacityScreen,
};

export function screenOf(state: State): Screen {
  return screens[currentView(state).screen]();
}

export function titleOf(name: ScreenName): string {
  return screens[name]().title;
}
