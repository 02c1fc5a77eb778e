import { driveFaults } from "./drive-faults.ts";

driveFaults(["claim", "claim-many", "fence", "checkpoint"]);
