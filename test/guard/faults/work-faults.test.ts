import { driveFaults } from "./drive-faults.ts";

driveFaults(["work", "work-and-call"]);
