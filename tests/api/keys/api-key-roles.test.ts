import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { type Answer, apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

let team: Team;
beforeAll(async () => {
  team = await makeTeam(harness);
});

type Who = keyof Team["users"];
type Key = { id: string; secret: string; can_edit: boolean };
const keys = () => `${team.path}/api-keys`;
const make = (who: Who) =>
  team.users[who].call("POST", keys(), { name: `Of ${who}`, permissions: ["log_usage", "read_summaries"] });
const made = async (who: Who) => (await make(who)).body as unknown as Key;
const codeOf = ({ status, body }: Answer) => `${status} ${body.error ?? "ok"}`;

/** Every change of a key, in an order that keeps it usable until the last. */
const deeds = {
  edit: (who: Who, id: string) => team.users[who].call("PATCH", `${keys()}/${id}`, { name: "Changed" }),
  rotate: (who: Who, id: string) => team.users[who].call("POST", `${keys()}/${id}/rotate`),
  revoke: (who: Who, id: string) => team.users[who].call("DELETE", `${keys()}/${id}`),
};
const attempt = async (who: Who, id: string) => {
  const outcome: string[] = [];
  for (const deed of Object.values(deeds)) outcome.push(codeOf(await deed(who, id)));
  return outcome;
};
const all = (code: string) => [code, code, code];

describe("Creating a key as", () => {
  test.each<[Who, string]>([
    ["owner", "201 ok"],
    ["admin", "201 ok"],
    ["member", "201 ok"],
    ["viewer", "403 permission_denied"],
    ["stranger", "404 not_found"],
  ])("%s: %s", async (who, code) => {
    expect(codeOf(await make(who))).toBe(code);
  });
});

describe("Editing, rotating and revoking a member's key as", () => {
  test.each<[Who, string]>([
    ["member", "200 ok"],
    ["admin", "200 ok"],
    ["owner", "200 ok"],
    ["colleague", "403 permission_denied"],
    ["viewer", "403 permission_denied"],
    ["stranger", "404 not_found"],
  ])("%s: %s", async (who, code) => {
    const { id, secret } = await made("member");
    expect(await attempt(who, id)).toEqual(all(code));
    const works = (await apiClient(baseUrl(), secret).post(costMessage())).status;
    expect(works).toBe(code === "200 ok" ? 401 : 201);
  });
});

test("Refuses a member changes of an admin's key", async () => {
  expect(await attempt("member", (await made("admin")).id)).toEqual(all("403 permission_denied"));
});

test("Shows every member the list, and which keys they may change", async () => {
  const mine = (await made("member")).id;
  const seen = async (who: Who) => {
    const { status, body } = await team.users[who].get(keys());
    const found = (body.api_keys as Key[]).find(({ id }) => id === mine);
    return [status, found?.can_edit, body.can_create, body.grantable_permissions];
  };
  const four = ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"];
  expect(await seen("owner")).toEqual([200, true, true, four]);
  expect(await seen("admin")).toEqual([200, true, true, four]);
  expect(await seen("member")).toEqual([200, true, true, four]);
  expect(await seen("colleague")).toEqual([200, false, true, four]);
  expect(await seen("viewer")).toEqual([200, false, false, ["read_summaries"]]);
});

test("Refuses key changes to a member who became a viewer, whose keys keep working", async () => {
  const { id, secret } = await made("colleague");
  const become = (role: string) =>
    harness.fixtures.sql.query(
      "update public.workspace_members set role = $3 where workspace_id = $1 and user_id = $2",
      [team.workspace, team.users.colleague.id, role],
    );
  await become("viewer");
  expect(await attempt("colleague", id)).toEqual(all("403 permission_denied"));
  expect((await apiClient(baseUrl(), secret).post(costMessage())).status).toBe(201);
  await become("member");
  expect(codeOf(await deeds.edit("colleague", id))).toBe("200 ok");
});

test("Gives the same bytes for a key of another workspace, of another kind and of none", async () => {
  const elsewhere = await harness.fixtures.key(await harness.fixtures.workspace());
  const connection = await harness.fixtures.key(team.workspace);
  await harness.fixtures.sql.query("update public.api_keys set kind = 'connection' where id = $1", [
    connection.id,
  ]);
  const answers = new Set<string>();
  for (const id of [elsewhere.id, connection.id, randomUUID()]) {
    for (const deed of Object.values(deeds)) {
      const { status, body } = await deed("owner", id);
      answers.add(JSON.stringify({ status, ...body, request_id: "" }));
    }
  }
  for (const path of [keys(), keys().replace(team.slug, "no-such-workspace")]) {
    const { status, body } = await team.users.stranger.get(path);
    answers.add(JSON.stringify({ status, ...body, request_id: "" }));
  }
  expect([...answers]).toEqual([expect.stringContaining("not_found")]);
  const { rows } = await harness.fixtures.sql.query(
    "select name, revoked_at, rotated_at from public.api_keys where id = any ($1)",
    [[elsewhere.id, connection.id]],
  );
  expect(rows).toEqual([0, 1].map(() => ({ name: "Test key", revoked_at: null, rotated_at: null })));
});

test("Shows the environment key, and lets nobody change it", async () => {
  const { id } = await harness.fixtures.key(team.workspace);
  await harness.fixtures.sql.query("update public.api_keys set kind = 'environment' where id = $1", [id]);
  const { body } = await team.users.owner.get(keys());
  expect(body.api_keys).toContainEqual(expect.objectContaining({ id, kind: "environment", can_edit: false }));
  expect(await attempt("owner", id)).toEqual(all("403 permission_denied"));
});

test("Names no maker who has left, and refuses an API key as a user", async () => {
  const { id, secret } = await made("colleague");
  await harness.fixtures.sql.query(
    "delete from public.workspace_members where workspace_id = $1 and user_id = $2",
    [team.workspace, team.users.colleague.id],
  );
  const { body } = await team.users.owner.get(keys());
  expect(body.api_keys).toContainEqual(expect.objectContaining({ id, created_by: null, can_edit: true }));
  expect(await attempt("colleague", id)).toEqual(all("404 not_found"));
  expect(codeOf(await apiClient(baseUrl(), secret).get(keys()))).toBe("401 invalid_credentials");
});
