import { beforeAll, expect, test } from "vitest";
import { apiClient } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser } from "@/tests/helpers/team";

const harness = withSharedHarness();
const clientOf = (token: string) => apiClient(harness.services[0]?.baseUrl ?? "", token);

let path: string;
let workspace: string;
const clients = {} as Record<"owner" | "admin" | "member" | "viewer", ReturnType<typeof apiClient>>;

beforeAll(async () => {
  workspace = await harness.fixtures.workspace();
  const { rows } = await harness.fixtures.sql.query("select slug from public.workspaces where id = $1", [
    workspace,
  ]);
  path = `/api/v1/workspaces/${rows[0].slug}`;
  for (const role of ["owner", "admin", "member", "viewer"] as const)
    clients[role] = clientOf((await addUser(harness, workspace, role)).token);
});

type View = { id: string; name: string; can_delete: boolean };
const save = async (client: ReturnType<typeof apiClient>, name: string, isShared: boolean) =>
  client.call("POST", `${path}/views`, { name, query: "by=model&over=week", is_shared: isShared });
const listed = async (client: ReturnType<typeof apiClient>) =>
  ((await client.get(`${path}/views`)).body.views as View[]).map(({ name, can_delete: canDelete }) => [
    name,
    canDelete,
  ]);
const audited = async () =>
  (
    await harness.fixtures.sql.query(
      "select action, coalesce(after, before) ->> 'name' as name from public.audit_log where workspace_id = $1 and action like 'saved_view.%' order by at",
      [workspace],
    )
  ).rows;

test("Shows private views to their maker alone and shared ones to all, and audits only the shared", async () => {
  expect((await save(clients.member, "Mine", false)).status).toBe(201);
  const shared = await save(clients.member, "Ours", true);
  expect(shared.status).toBe(201);
  expect((await save(clients.viewer, "Viewer's own", false)).status).toBe(201);
  expect(await listed(clients.member)).toEqual([
    ["Mine", true],
    ["Ours", true],
  ]);
  expect(await listed(clients.viewer)).toEqual([
    ["Ours", false],
    ["Viewer's own", true],
  ]);
  for (const client of [clients.owner, clients.admin]) expect(await listed(client)).toEqual([["Ours", true]]);
  expect(await audited()).toEqual([{ action: "saved_view.created", name: "Ours" }]);
  expect((await clients.admin.call("DELETE", `${path}/views/${shared.body.id}`)).status).toBe(200);
  expect(await audited()).toHaveLength(2);
});

test("Lets viewers share none, and nobody delete or see what is another's", async () => {
  expect((await save(clients.viewer, "For all", true)).body.error).toBe("permission_denied");
  const { body: shared } = await save(clients.owner, "Board", true);
  expect((await clients.viewer.call("DELETE", `${path}/views/${shared.id}`)).body.error).toBe(
    "permission_denied",
  );
  expect((await clients.member.call("DELETE", `${path}/views/${shared.id}`)).body.error).toBe(
    "permission_denied",
  );
  const { body: own } = await save(clients.owner, "Owner's own", false);
  expect((await clients.member.call("DELETE", `${path}/views/${own.id}`)).status).toBe(404);
  const stranger = clientOf((await addUser(harness, await harness.fixtures.workspace(), "owner")).token);
  expect((await stranger.get(`${path}/views`)).status).toBe(404);
  expect((await stranger.call("DELETE", `${path}/views/${shared.id}`)).status).toBe(404);
});

test("Refuses what is not the query of an address", async () => {
  const refused = (body: object) =>
    clients.member.call("POST", `${path}/views`, { name: "x", query: "", ...body });
  for (const body of [
    { query: "?by=model" },
    { query: "by=model#x" },
    { query: "by=a model" },
    { query: "x".repeat(4_001) },
    { name: "  " },
    { name: "x".repeat(121) },
  ])
    expect([(await refused(body)).status, JSON.stringify(body).slice(0, 20)]).toEqual([
      400,
      JSON.stringify(body).slice(0, 20),
    ]);
});
