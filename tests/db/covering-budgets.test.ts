import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { readCoveringBudgets } from "@/lib/spend/limits/covering-budgets";
import { connectService } from "@/tests/helpers/connect-service";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { createMember } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

let database: TestDatabase;
let fixtures: Fixtures;

withDatabase((open) => {
  ({ database, fixtures } = open);
});
connectService(() => database);

type ListedKey = Parameters<typeof readCoveringBudgets>[2][number];

const none = { project_slugs: [], deny_project_slugs: [], features: [], sources: [], users: [] };

test("Names the budgets that can count what a key records, for members of its workspace alone", async () => {
  const slug = `w-${randomUUID()}`;
  const workspace = await fixtures.workspace(slug);
  const { id: member } = await createMember(fixtures, workspace, "viewer");
  const project = await fixtures.project(workspace, "web");
  const { id } = await fixtures.key(workspace);
  const other = (await fixtures.key(workspace)).id;
  const scopes = [
    ["global", null],
    ["project", project],
    ["key", id],
    ["key", other],
    ["feature", "chat"],
    ["user", "anna"],
    ["model", "gpt-5"],
  ];
  for (const [type, value] of scopes) {
    await fixtures.sql.query(
      `insert into public.budgets (workspace_id, name, scope_type, scope_value, amount, blocks)
       values ($1, $2, $3, $4, 10, $5)`,
      [workspace, `${type} ${value === other ? "other" : ""}`.trim(), type, value, type === "key"],
    );
  }
  const keys = {
    any: { id, environment: "live", project_id: null, conditions: none },
    confined: {
      ...{ id: randomUUID(), environment: "live", project_id: null },
      conditions: { ...none, project_slugs: ["shop"], features: ["search"], users: ["ben"] },
    },
    denied: {
      ...{ id: randomUUID(), environment: "live", project_id: null },
      conditions: { ...none, deny_project_slugs: ["web"], features: ["chat"] },
    },
    ofProject: { id: randomUUID(), environment: "live", project_id: project, conditions: none },
    test: { id: randomUUID(), environment: "test", project_id: null, conditions: none },
  } satisfies Record<string, ListedKey>;
  const claims = { sub: member, role: "authenticated" } as Parameters<typeof readCoveringBudgets>[0];
  const found = await readCoveringBudgets(claims, slug, Object.values(keys));
  const named = (key: keyof typeof keys) => found.get(keys[key].id)?.map(({ name }) => name);
  expect(named("any")).toEqual(["feature", "global", "key", "model", "project", "user"]);
  expect(named("confined")).toEqual(["global", "model"]);
  expect(named("denied")).toEqual(["feature", "global", "model", "user"]);
  expect(named("ofProject")).toEqual(["feature", "global", "model", "project", "user"]);
  expect(named("test")).toEqual([]);
  const own = found.get(id)?.find(({ name }) => name === "key");
  expect([own?.blocks, own?.is_used_up, JSON.stringify(own?.limit_usd)]).toEqual([true, false, "10"]);
  const stranger = { ...claims, sub: randomUUID() };
  await expect(readCoveringBudgets(stranger, slug, Object.values(keys))).rejects.toMatchObject({
    code: "not_found",
  });
});
