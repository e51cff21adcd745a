import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestDatabase, type TestDatabase } from "@/tests/helpers/database";

let database: TestDatabase;
let superuser: Client;
let admin: Client;
let service: Client;

beforeAll(async () => {
  database = await createTestDatabase();
  superuser = new Client({ connectionString: database.superuserUrl });
  admin = new Client({ connectionString: database.adminUrl });
  service = new Client({ connectionString: database.url });
  await Promise.all([superuser.connect(), admin.connect(), service.connect()]);
});

afterAll(async () => {
  await Promise.all([superuser.end(), admin.end(), service.end()]);
  await database.drop();
});

describe("The embedded database and a Supabase project", () => {
  test("Have roles with the same attributes", async () => {
    const { rows } = await superuser.query(
      `select rolname as name, rolsuper as super, rolbypassrls as bypass, rolcanlogin as login, rolinherit as inherit
       from pg_roles where rolname !~ '^pg_' order by rolname`,
    );
    const role = (name: string) => rows.find((row) => row.name === name);
    expect(role("postgres")).toMatchObject({ super: false, bypass: true, login: true });
    expect(role("supabase_admin")).toMatchObject({ super: true, login: true });
    expect(role("anon")).toMatchObject({ super: false, bypass: false, login: false });
    expect(role("authenticated")).toMatchObject({ super: false, bypass: false, login: false });
    expect(role("service_role")).toMatchObject({ super: false, bypass: true, login: false });
    expect(role("authenticator")).toMatchObject({ super: false, bypass: false, inherit: false });
    expect(role("outlay_service")).toMatchObject({
      super: false,
      bypass: false,
      login: true,
      inherit: false,
    });
  });

  test.each(["anon", "authenticated", "service_role", "authenticator", "outlay_service", "outlay_key"])(
    "Do not let %s read auth.users",
    async (role) => {
      await superuser.query(`begin; set local role ${role}`);
      await expect(superuser.query("select from auth.users")).rejects.toMatchObject({ code: "42501" });
      await superuser.query("rollback");
    },
  );

  test("Let the migrations' owner refer to auth.users and create nothing in auth", async () => {
    await admin.query("begin; create table public.child (id uuid references auth.users (id)); rollback");
    await expect(admin.query("create table auth.mine ()")).rejects.toMatchObject({ code: "42501" });
  });

  test("Grant the API roles nothing in public by default", async () => {
    await admin.query("begin; create table public.fresh (); set local role authenticated");
    await expect(admin.query("select from public.fresh")).rejects.toMatchObject({ code: "42501" });
    await admin.query("rollback");
  });

  test("Read a transaction's claims in auth.uid(), which is null afterwards", async () => {
    const id = "6f1c1b9e-0f3a-4c53-9d0c-2f8f4b7f4b11";
    await service.query("begin");
    await service.query(
      "select set_config('role', 'authenticated', true), set_config('request.jwt.claims', $1, true)",
      [JSON.stringify({ sub: id, role: "authenticated", email: "ada@example.com" })],
    );
    const inside = await service.query(
      "select auth.uid(), auth.role(), auth.email(), auth.jwt() ->> 'sub' as sub",
    );
    expect(inside.rows[0]).toEqual({ uid: id, role: "authenticated", email: "ada@example.com", sub: id });
    await service.query("commit");
    await service.query("begin; set local role authenticated");
    expect((await service.query("select auth.uid()")).rows[0].uid).toBeNull();
    await service.query("rollback");
  });

  test("Sort text by code point, in UTF-8 and UTC, with checksums and durable commits", async () => {
    const { rows } = await service.query(
      `select current_setting('server_encoding') as encoding, current_setting('timezone') as zone,
              current_setting('data_checksums') as checksums, current_setting('synchronous_commit') as durable,
              current_setting('server_version_num')::int / 10000 as major,
              (select string_agg(word, '' order by word) from unnest(array['é', 'b', 'B', 'a']) as word) as sorted`,
    );
    expect(rows[0]).toEqual({
      encoding: "UTF8",
      zone: "UTC",
      checksums: "on",
      durable: "on",
      major: 17,
      sorted: "Babé",
    });
  });
});
