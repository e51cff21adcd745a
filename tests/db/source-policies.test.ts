import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import type { Fixtures } from "@/tests/helpers/keys";
import { createMembers, runAs } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What users and keys can do to sources by SQL: on a hosted project, PostgREST runs it without our service.

type Who = "owner" | "admin" | "member" | "viewer" | "stranger";

let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;
let keyId: string;
let users: Record<Who, string>;

withDatabase((open) => {
  ({ fixtures, service } = open);
});

beforeAll(async () => {
  workspace = await fixtures.workspace();
  const other = await fixtures.workspace();
  users = await createMembers(fixtures, workspace, other);
  keyId = (await fixtures.key(workspace)).id;
  await note(keyId);
});

async function note(key: string): Promise<void> {
  const counts = { told: 2, recorded: 1, repeated: 0, refused: 1, latest: null };
  const refusal = { code: "project_not_allowed", of_record: true, description: "No.", count: 1, example: {} };
  await service.query("select private.note_sources($1)", [
    JSON.stringify({
      arrivals: [{ key, emitter: "claude-code", ...counts }],
      refusals: [{ key, reason: "a".repeat(64), ...refusal }],
      account: [{ key, emitter: "claude-code", outcome: "recorded", by: "", count: 1 }],
      exports: [{ key, address: "203.0.113.7", records: [{ emitter: "claude-code" }] }],
    }),
  ]);
}

/** Runs a statement as a signed-in user, and takes it back. */
const as = async (who: Who, sql: string, values: unknown[] = []) =>
  (await runAs(service, { sub: users[who] }, "rollback", sql, values)).rows;

/** Runs a statement as an API key that may read everything of its workspace, and takes it back. */
async function asKey(sql: string): Promise<unknown[]> {
  await service.query("begin");
  try {
    const claims = { id: keyId, workspace_id: workspace, environment: "live", allow: null, deny: [] };
    await service.query(
      "select set_config('role', 'outlay_key', true), set_config('request.api_key', $1, true)",
      [JSON.stringify(claims)],
    );
    return (await service.query(sql)).rows;
  } finally {
    await service.query("rollback");
  }
}

const tables = ["source_arrivals", "source_hours", "source_refusals", "refused_exports"] as const;

describe.each(tables)("Rows of %s", (table) => {
  test.each([
    ["owner", 1],
    ["admin", 1],
    ["member", 1],
    ["viewer", 1],
    ["stranger", 0],
  ] as const)("Are read by the %s: %i", async (who, count) => {
    expect(await as(who, `select workspace_id from public.${table}`)).toHaveLength(count);
  });

  test("Cannot be read by an API key", async () => {
    await expect(asKey(`select workspace_id from public.${table}`)).rejects.toThrow(/permission denied/);
  });

  test.each([
    `update public.${table} set workspace_id = workspace_id`,
    `delete from public.${table}`,
    `insert into public.${table} (workspace_id) values (gen_random_uuid())`,
  ])("Refuse a member who runs %s", async (statement) => {
    await expect(as("owner", statement)).rejects.toThrow(/permission denied/);
  });
});

test.each(["records", "address"])("Nobody but the service reads %s of what was refused", async (column) => {
  await expect(as("owner", `select ${column} from public.refused_exports`)).rejects.toThrow(
    /permission denied/,
  );
});

test.each([
  "select private.note_sources('{}')",
  "select private.take_refused_exports(gen_random_uuid(), gen_random_uuid())",
  "select private.settle_refused_export(gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), '[]')",
])("Users cannot call %s", async (statement) => {
  await expect(as("owner", statement)).rejects.toThrow(/permission denied/);
});

describe("The settings of a source", () => {
  const set = (who: Who, settings: unknown) =>
    as(who, "update public.api_keys set source_settings = $1 where id = $2 returning id", [
      JSON.stringify(settings),
      keyId,
    ]);

  test.each([
    ["owner", 1],
    ["admin", 1],
    ["member", 0],
    ["viewer", 0],
    ["stranger", 0],
  ] as const)("Are changed by the %s: %i", async (who, count) => {
    expect(await set(who, { default_project: "checkout" })).toHaveLength(count);
  });

  test.each([
    ["text", "x"],
    ["a list", []],
    ["an unknown name", { other: "x" }],
    ["a number as a project", { default_project: 1 }],
    ["an empty attribute", { project_attribute: "" }],
    ["a long attribute", { project_attribute: "x".repeat(129) }],
    ["a word for a switch", { trusted_cost: "yes" }],
    ["eleven tags", { tags: Array.from({ length: 11 }, () => ({ name: "a", attribute: "a" })) }],
    ["a tag without an attribute", { tags: [{ name: "a" }] }],
    ["a tag that is text", { tags: ["a"] }],
    ["a tag with more", { tags: [{ name: "a", attribute: "b", more: 1 }] }],
  ])("Cannot be %s", async (_, settings) => {
    await expect(set("owner", settings)).rejects.toThrow(/api_keys_source_settings_are_known/);
  });

  test("Can have every setting", async () => {
    const settings = {
      program: "claude-code",
      project_attribute: "__proto__",
      default_project: "a",
      feature_attribute: "b",
      default_feature: "c",
      tags: [{ name: "team", attribute: "team" }],
      trusted_cost: false,
      subscription_covered: true,
    };
    expect(await set("owner", settings)).toHaveLength(1);
  });
});

describe("What is kept of a key", () => {
  test("Is at most 20 exports, the newest, with 1 MiB, and 50 reasons", async () => {
    const { id } = await fixtures.key(workspace);
    const big = { text: "x".repeat(90_000) };
    for (let index = 0; index < 30; index += 1) {
      await service.query("select private.note_sources($1)", [
        JSON.stringify({
          arrivals: [],
          refusals: [0, 1, 2].map((part) => ({
            key: id,
            reason: String(index * 3 + part).padStart(64, "0"),
            code: "x",
            of_record: true,
            description: "x",
            count: 1,
            example: null,
          })),
          exports: [{ key: id, address: null, records: [index < 20 ? { index } : { index, ...big }] }],
        }),
      ]);
    }
    const { rows } = await fixtures.sql.query(
      `select count(*)::int as exports, sum(byte_count)::int as bytes, max((records -> 0 ->> 'index')::int) as latest,
        (select count(*)::int from public.source_refusals where api_key_id = $1) as reasons,
        (select max(reason)::int from public.source_refusals where api_key_id = $1) as latest_reason
       from public.refused_exports where api_key_id = $1`,
      [id],
    );
    expect(rows[0].exports).toBeLessThanOrEqual(20);
    expect(rows[0].bytes).toBeLessThanOrEqual(1024 * 1024);
    expect(rows[0]).toMatchObject({ latest: 29, reasons: 50, latest_reason: 89 });
  });

  test("Is for 7 days", async () => {
    const { id } = await fixtures.key(workspace);
    await note(id);
    await fixtures.sql.query(
      "update public.refused_exports set at = now() - interval '8 days' where api_key_id = $1",
      [id],
    );
    const { rows } = await service.query("select private.take_refused_exports($1, $2) as answer", [
      workspace,
      id,
    ]);
    expect(rows[0].answer.exports).toEqual([]);
    await note(keyId);
    const { rowCount } = await fixtures.sql.query(
      "select from public.refused_exports where api_key_id = $1",
      [id],
    );
    expect(rowCount).toBe(0);
  });

  test("Is not that of another workspace's key", async () => {
    const { rows } = await service.query(
      "select private.take_refused_exports(gen_random_uuid(), $1) as answer",
      [keyId],
    );
    expect(rows[0].answer).toBeNull();
  });
});
