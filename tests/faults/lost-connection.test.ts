import { afterAll, beforeAll, expect, test } from "vitest";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";
import { asService, asServiceAlone } from "@/lib/db/transaction";
import { createTestDatabase, type TestDatabase } from "@/tests/helpers/database";
import { Fixtures } from "@/tests/helpers/keys";

let database: TestDatabase;
let fixtures: Fixtures;

beforeAll(async () => {
  database = await createTestDatabase();
  configureDatabase(database);
  fixtures = new Fixtures(database.superuserUrl);
});

afterAll(async () => {
  await closeDatabase();
  await fixtures?.close();
  await database?.drop();
});

// Vitest fails the run on an uncaught error, so these tests also show that the process survives.
test.each([
  ["in a transaction", asService],
  ["outside one", asServiceAlone],
])(
  "Treats a connection lost between two statements %s as an outage, and gives the next caller another",
  async (_, run) => {
    const lost = run(async (client) => {
      const { rows } = await client.query("select pg_backend_pid() as pid");
      const gone = new Promise((resolve) => client.once("end", resolve));
      await fixtures.sql.query("select pg_terminate_backend($1)", [rows[0].pid]);
      await gone;
      await client.query("select 1");
    });
    await expect(lost).rejects.toMatchObject({ code: "unavailable", headers: { "Retry-After": "1" } });
    const { rows } = await run((client) => client.query("select 42 as answer"));
    expect(rows).toEqual([{ answer: 42 }]);
  },
);

test("Treats a statement ended by the server as an outage", async () => {
  const cutOff = asService((client) => client.query("select pg_terminate_backend(pg_backend_pid())"));
  await expect(cutOff).rejects.toMatchObject({ code: "unavailable" });
});
