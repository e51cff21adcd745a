import { beforeAll, expect, test } from "vitest";
import { selectAll } from "@/lib/db/query";
import { raw } from "@/lib/db/sql";
import { asKey, asKeyAtOnce, asUserReading, type KeyClaims, type UserClaims } from "@/lib/db/transaction";
import { connectService } from "@/tests/helpers/connect-service";
import { type OpenDatabase, withDatabase } from "@/tests/helpers/with-database";

let open: OpenDatabase;
withDatabase((opened) => {
  open = opened;
});
connectService(() => open.database);

let key: KeyClaims;
let user: UserClaims;
beforeAll(async () => {
  const workspace = await open.fixtures.workspace();
  const { id } = await open.fixtures.key(workspace);
  key = { id, workspace_id: workspace, environment: "live", allow: null, deny: [] };
  user = { sub: id, role: "authenticated", session_id: id, email: "ada@example.com" };
});

const readers = {
  "a key": (statement: string) => asKey(key, (client) => client.query(statement)),
  "a key, in one round trip,": async (statement: string) => ({
    rows: await asKeyAtOnce(key, (client) => selectAll(client, {}, raw(statement))),
  }),
  "a user": (statement: string) => asUserReading(user, (client) => client.query(statement)),
};

/** Postgres's error for a write in a read-only transaction (SQLSTATE read_only_sql_transaction). */
const readOnly = { code: "25006" };

test.each(Object.entries(readers))(
  "Runs %s in a transaction that cannot write, whatever the role is granted",
  async (_, read) => {
    expect((await read("show transaction_read_only")).rows).toEqual([{ transaction_read_only: "on" }]);
    // A further check under row-level security: these fail before rights are checked.
    await expect(read("delete from public.messages")).rejects.toMatchObject(readOnly);
    await expect(read("insert into public.projects default values")).rejects.toMatchObject(readOnly);
    await expect(read("create temporary table notes ()")).rejects.toMatchObject(readOnly);
  },
);
