/** What the host's program says of peers, and of what it could not look at. */
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { quoted, run } from "./program-script.ts";

test.each([
  ["a connection", "echo tried", "answers"],
  ["a refusal", "echo tried; echo 'bash: connect: Connection refused'; return 1", "answers"],
  ["silence", "echo tried; return 124", "silent"],
  [
    "nobody at that address any more",
    "echo tried; echo 'bash: connect: No route to host'; return 1",
    "silent",
  ],
  ["no way out of here", "echo tried; echo 'bash: connect: Network is unreachable'; return 1", "unknown"],
  ["it never came to try", "return 124", "unknown"],
  ["there is no bash", "return 127", "unknown"],
])("a peer, and how a connection to it ended: %s", (_, tried, answer) => {
  const { text } = run(`timeout() { ${tried}; }\nreach reach=10.0.0.1,22`);
  expect(text).toBe(`reach 10.0.0.1,22 ${answer}`);
});

test("a peer of this machine is really tried, and what is no peer is not", async () => {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  try {
    const peers = [`127.0.0.1,${port}`, "127.0.0.1,ssh", ",22", "127.0.0.1"];
    const { text } = run(`look ${peers.map((peer) => quoted(`reach=${peer}`)).join(" ")}`);
    expect(text.split("\n")).toEqual(
      peers.map((peer, nth) => `reach ${peer} ${nth === 0 ? "answers" : "unknown"}`),
    );
  } finally {
    server.close();
  }
});

test.each([
  ["both answer", "nft() { :; }; systemctl() { echo 252; }", []],
  ["systemd does not", "nft() { :; }; systemctl() { return 1; }", ["unseen units: systemd does not answer"]],
  [
    "nft does not",
    "nft() { return 1; }; systemctl() { echo 252; }",
    ["unseen nft-table: nft does not answer"],
  ],
])("an audit says what it could not look at: %s", (_, stubs, unseen) => {
  const { text } = run(
    `${stubs}\nhas_capability() { :; }; own_units() { :; }; residue_of_run() { :; }\n: >"$settings/allowed"\naudit`,
  );
  expect(text.split("\n")).toEqual([...unseen, "done"]);
});
