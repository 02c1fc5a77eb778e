import { driveFaults } from "./drive-faults.ts";

driveFaults(["once", "once-alone"]);
