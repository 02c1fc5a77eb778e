/** What is seen in the code of a job, without running it. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { scanSource, showsCall } from "../../../src/checklist/items/source-scan.ts";
import { readJobFiles } from "../../../src/cli/jobs/job-files.ts";

describe("what a source shows", () => {
  const kinds = (path: string, text: string, targets = ["bonus"]) =>
    scanSource({ path, text, targets }).map(({ kind }) => kind);

  it.each([
    ["a.sql", "UPDATE t SET x = x + 1;", ["accumulating-update"]],
    ["a.sql", "UPDATE t SET x = t.x - 1 WHERE id = 2;", ["accumulating-update"]],
    ["a.sql", "UPDATE t SET y = 1, x = coalesce(x, 0) + 5;", ["accumulating-update"]],
    ["a.sql", "UPDATE t SET x = 1 + x;", ["accumulating-update"]],
    [
      "a.sql",
      "INSERT INTO bonus VALUES (1) ON CONFLICT (id) DO UPDATE SET n = bonus.n + excluded.n;",
      ["accumulating-update"],
    ],
    ["a.sql", "UPDATE t SET x = y + 1, z = excluded.z;", []],
    ["a.sql", "-- UPDATE t SET x = x + 1;\nUPDATE t SET x = 5 WHERE x = x + 1;", []],
    ["a.sql", "INSERT INTO bonus (id) VALUES (1);", ["plain-insert"]],
    ["a.sql", 'INSERT INTO "pay"."bonus" (id) VALUES (1);', ["plain-insert"]],
    ["a.sql", "INSERT INTO log (id) VALUES (1);", []],
    ["a.sql", "INSERT INTO bonus SELECT 1 ON CONFLICT DO NOTHING;", []],
    ["a.sql", "DELETE FROM bonus WHERE period = 1; INSERT INTO bonus SELECT 1;", []],
    ["a.sql", "INSERT INTO bonus SELECT 1; DELETE FROM bonus;", ["plain-insert"]],
    [
      "a.mjs",
      "await db.query(`INSERT INTO bonus (id) VALUES ($1)`, [1]);\nawait db.query(`x ON CONFLICT y`);",
      ["plain-insert"],
    ],
    ["a.py", 'cursor.execute("INSERT INTO bonus (id) VALUES (%s)", (1,))', ["plain-insert"]],
    ["A.java", 's.executeUpdate("UPDATE account SET cents = cents + ?");', ["accumulating-update"]],
    ["a.sh", 'psql "$URL" <<SQL\nUPDATE t SET n = n + 1;\nSQL', ["accumulating-update"]],
    ["a.sh", "curl -X POST -d '{}' http://pay.example/", ["call-without-key"]],
    ["a.sh", "curl -H \"Idempotency-Key: $KEY\" -d '{}' http://pay.example/", []],
    ["a.sh", "curl -fsS http://pay.example/status", []],
    ["a.mjs", 'await fetch(url, { method: "POST", body });', ["call-without-key"]],
    ["a.mjs", 'await fetch(url, { method: "POST", headers: { "idempotency-key": key } });', []],
    ["a.mjs", "await fetch(url);", []],
    ["a.py", "requests.post(url, json=body)", ["call-without-key"]],
    ["a.ts", 'channel.sendToQueue("pay", body);', ["message-without-key"]],
    ["a.ts", 'channel.sendToQueue("pay", body, { messageId });', []],
    ["a.py", "producer.send('pay', value=v, key=k)", []],
    ["a.sql", "SELECT claimed FROM escapement_guard.claim('k'); UPDATE t SET x = x + 1;", []],
  ])("%s: %s", (path, text, expected) => {
    expect(kinds(path, text)).toEqual(expected);
  });

  it.each([
    ["a.py", "requests.post(url, json=body)", true],
    ["a.ts", 'channel.sendToQueue("pay", body, { messageId });', true],
    ["a.sh", "curl -d '{}' http://pay.example/", true],
    ["A.java", 'client.newCall(request.header("Idempotency-Key", key).build());', true],
    ["a.sql", "SELECT escapement_guard.call_begin('k');", true],
    ["a.sh", "# curl -d '{}' http://pay.example/\nexec /opt/pay/send", false],
    ["a.sql", "INSERT INTO outbox VALUES (1) ON CONFLICT DO NOTHING;", false],
    ["README.md", "It pays.", false],
  ])("%s: %s: a call is to be seen: %s", (path, text, expected) => {
    expect(showsCall(path, text)).toBe(expected);
  });

  it("finds nothing in the sources of the settlement example, and the wrong one of the rehearsal example", async () => {
    const { jobs, problems } = await readJobFiles(["examples/settlement/jobs", "examples/rehearse"]);
    expect(problems).toEqual([]);
    const found = jobs.flatMap(({ definition }) =>
      definition.effects.flatMap(({ sources, target }) =>
        sources.flatMap((path) =>
          scanSource({ path, text: readFileSync(path, "utf8"), targets: [target] }).map(({ kind }) => [
            path,
            kind,
          ]),
        ),
      ),
    );
    expect(found).toEqual([["examples/rehearse/add-up.mjs", "accumulating-update"]]);
  });
});
