import { FakeHost, fakeConnector } from "../../src/remote/fake-remote.ts";
import { conformance } from "./conformance.ts";
import { localTarget } from "./local-target.ts";

const host = new FakeHost();
const connect = fakeConnector(new Map([["here", host]]));

conformance("fake", () => ({ connect: () => connect(localTarget) }));
