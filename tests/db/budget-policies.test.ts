import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { insertStatement } from "@/tests/helpers/insert-statement";
import type { Fixtures } from "@/tests/helpers/keys";
import { createMembers, runAs } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What users can do to budgets by SQL: on a hosted project, PostgREST runs it without our service.

type Who = "owner" | "admin" | "member" | "viewer" | "stranger";

let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;
let other: string;
let users: Record<Who, string>;

withDatabase((open) => {
  ({ fixtures, service } = open);
});

beforeAll(async () => {
  workspace = await fixtures.workspace();
  other = await fixtures.workspace();
  users = await createMembers(fixtures, workspace, other);
});

const as = async (who: Who, sql: string, values: unknown[] = []) =>
  (await runAs(service, { sub: users[who] }, "commit", sql, values)).rows;

describe("A budget written by SQL", () => {
  const insert = (who: Who, columns: Record<string, unknown> = {}) => {
    const budget = { workspace_id: workspace, name: "B", scope_type: "global", amount: 5, ...columns };
    return as(who, ...insertStatement("public.budgets", budget));
  };
  const [update, remove] = [
    "update public.budgets set amount = 6 where workspace_id = $1 returning id",
    "delete from public.budgets where workspace_id = $1 returning id",
  ];

  test.each(["owner", "admin"] as const)("By the %s is inserted, updated and deleted", async (who) => {
    await insert(who);
    expect(await as(who, update, [workspace])).toHaveLength(1);
    expect(await as(who, remove, [workspace])).toHaveLength(1);
  });

  test.each(["member", "viewer", "stranger"] as const)("By the %s is refused", async (who) => {
    await insert("owner");
    await expect(insert(who)).rejects.toThrow(/row-level security/);
    expect(await as(who, update, [workspace])).toEqual([]);
    expect(await as(who, remove, [workspace])).toEqual([]);
    expect(await as("owner", remove, [workspace])).toHaveLength(1);
  });

  test.each<[string, Record<string, unknown>]>([
    ["an amount of 0", { amount: 0 }],
    ["an amount of NaN", { amount: "NaN" }],
    ["an endless amount", { amount: "Infinity" }],
    ["a project that is none", { scope_type: "project", scope_value: "checkout" }],
    ["an unknown project", { scope_type: "project", scope_value: crypto.randomUUID() }],
    ["an unknown key", { scope_type: "key", scope_value: crypto.randomUUID() }],
    ["a global scope with a value", { scope_value: "checkout" }],
    ["an empty feature", { scope_type: "feature", scope_value: "" }],
  ])("Does not have %s", async (_, columns) => {
    await expect(insert("owner", columns)).rejects.toThrow(/check constraint|the workspace has no/);
  });

  test.each(["Mars/Base", "CEST", "UTC+3"])(
    "Is refused in %s, which is no time zone by name",
    async (zone) => {
      await expect(insert("owner", { time_zone: zone })).rejects.toThrow(/there is no time zone/);
      const change = "update public.budgets set time_zone = $2 where workspace_id = $1";
      await insert("owner", { time_zone: "Europe/Zurich" });
      await insert("owner");
      await expect(fixtures.sql.query(change, [workspace, zone])).rejects.toThrow(/there is no time zone/);
      expect(await as("owner", remove, [workspace])).toHaveLength(2);
    },
  );

  test("Belongs to its workspace's projects and keys, and keeps its scope", async () => {
    const project = await fixtures.project(other, `p-${crypto.randomUUID()}`);
    const key = await fixtures.key(other);
    await expect(insert("owner", { scope_type: "project", scope_value: project })).rejects.toThrow(
      /has no project/,
    );
    await expect(insert("owner", { scope_type: "key", scope_value: key.id })).rejects.toThrow(/has no key/);
    await expect(as("owner", "update public.budgets set scope_type = 'global'")).rejects.toThrow(
      /permission denied/,
    );
  });

  test("Shows what is held of it to members of its workspace alone", async () => {
    await insert("owner");
    const { id: key } = await fixtures.key(workspace);
    await fixtures.sql.query(
      `insert into private.reservations
         (workspace_id, id, environment, api_key_id, amount_usd, project, provider, created_at, expires_at, request)
       values ($1, gen_random_uuid(), 'live', $2, 1.5, 'p', 'openai', now(), now() + interval '1 hour', '{}')`,
      [workspace, key],
    );
    const held = "select held_usd from public.budget_holds";
    for (const who of ["owner", "admin", "member", "viewer"] as const)
      expect(await as(who, held)).toEqual([{ held_usd: "1.5" }]);
    expect(await as("stranger", held)).toEqual([]);
    await as("owner", remove, [workspace]);
  });
});
