import { driveFaults } from "./drive-faults.ts";

driveFaults(["replace-version", "replace-partition", "replace-table"]);
