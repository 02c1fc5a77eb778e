import { connectLocal } from "../../src/remote/local-remote.ts";
import { conformance } from "./conformance.ts";
import { localTarget } from "./local-target.ts";

conformance("local", () => ({ connect: () => connectLocal(localTarget) }));
