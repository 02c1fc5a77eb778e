import { driveFaults } from "./drive-faults.ts";

driveFaults(["call-deduplicating", "call-plain", "call-answers"]);
