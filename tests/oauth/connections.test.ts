import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { apiClient } from "@/tests/helpers/client";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import {
  allowing,
  authorizeUrl,
  type Browser,
  callTool,
  connect,
  makePkce,
  openBrowser,
  openPage,
  refresh,
  registerClient,
  sendForm,
} from "@/tests/helpers/oauth";
import { withPages } from "@/tests/helpers/service";
import { actAs } from "@/tests/helpers/sql-user";

// Two processes of one service: what they call themselves is one address.
const harness = withHarness({ services: 2, settings: { ...withPages, BASE_URL: "http://outlay.internal" } });
const baseUrl = () => harness.services[0]?.baseUrl ?? "";
const otherProcess = () => harness.services[1]?.baseUrl ?? "";

const roles = ["owner", "admin", "member", "viewer"] as const;
type Role = (typeof roles)[number];

let workspaceId: string;
let slug: string;
let people: Record<Role | "stranger", Browser>;

beforeAll(async () => {
  const everybody = [...roles, "stranger"] as const;
  people = Object.fromEntries(
    await Promise.all(everybody.map(async (role) => [role, await openBrowser(baseUrl())] as const)),
  ) as typeof people;
});
beforeEach(async () => {
  slug = `w-${randomUUID()}`;
  workspaceId = await harness.fixtures.workspace(slug);
  for (const role of roles) {
    await harness.fixtures.sql.query(
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, $3)",
      [workspaceId, people[role].id, role],
    );
  }
});

const path = (id = "") => `/api/v1/workspaces/${slug}/connections${id && `/${id}`}`;
const as = (who: keyof typeof people, at = baseUrl()) => apiClient(at, people[who].token);
const listed = async (who: Role = "viewer") => {
  const { body } = await as(who).get(path());
  return body.connections as {
    id: string;
    permissions: string[];
    last_used_at: string | null;
    can_revoke: boolean;
    [field: string]: unknown;
  }[];
};
const setRole = (who: Role, role: string) =>
  harness.fixtures.sql.query(
    "update public.workspace_members set role = $1 where workspace_id = $2 and user_id = $3",
    [role, workspaceId, people[who].id],
  );
const spend = (token: string, cost = 1, at = baseUrl()) =>
  callTool(at, token, "log_usage", {
    project: "checkout",
    provider: "openai",
    unit_type: "requests",
    quantity: 1,
    estimated_cost: cost,
  });

describe("A workspace's connections", () => {
  test("Show every member client, user, permissions, spend and use, and strangers 404", async () => {
    await harness.fixtures.project(workspaceId, "checkout");
    const choice = { workspace: slug, permissions: ["log_usage"], project: "checkout", monthlyLimit: "5" };
    const { access } = await connect(people.member, choice);
    expect((await spend(access, 2)).body.result.isError).toBeFalsy();
    const used = async () => (await listed())[0]?.last_used_at;
    await expect.poll(used).not.toBeNull();
    for (const role of roles) {
      expect(await listed(role)).toEqual([
        {
          id: expect.any(String),
          client: {
            id: expect.stringMatching(/^svc_client_/),
            name: "Test assistant",
            uri: null,
            host: null,
            redirect_host: "127.0.0.1:33418",
          },
          user: { id: people.member.id, email: people.member.email, display_name: null },
          permissions: ["log_usage", "read_summaries"],
          project: { id: expect.any(String), slug: "checkout", name: "checkout" },
          monthly_limit: 5,
          spent: 2,
          created_at: expect.any(String),
          last_used_at: expect.any(String),
          can_revoke: role !== "viewer",
        },
      ]);
    }
    const hidden = await as("stranger").get(path());
    const missing = await as("stranger").get(path().replace(slug, "no-such-workspace"));
    expect(hidden.status).toBe(404);
    expect({ ...hidden.body, request_id: "" }).toEqual({ ...missing.body, request_id: "" });
  });

  test("Enforce what was allowed: project, permissions, monthly limit", async () => {
    await harness.fixtures.project(workspaceId, "checkout");
    const { access } = await connect(people.member, {
      workspace: slug,
      permissions: ["log_usage"],
      project: "checkout",
      monthlyLimit: "5",
    });
    const elsewhere = { project: "search", provider: "openai", unit_type: "requests", quantity: 1 };
    const strayed = await callTool(baseUrl(), access, "log_usage", { ...elsewhere, estimated_cost: 1 });
    expect(strayed.body.result.isError).toBe(true);
    expect((await spend(access, 4.5)).body.result.isError).toBeFalsy();
    expect((await spend(access, 1)).body.result.isError).toBe(true);
    expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  });

  test("Count two tokens of one connection as one key under its limit", async () => {
    const clientId = await registerClient(baseUrl());
    const choice = { workspace: slug, permissions: ["log_usage"], monthlyLimit: "5" };
    const [first, second] = [
      await connect(people.member, choice, clientId),
      await connect(people.member, choice, clientId),
    ];
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        spend((index % 2 ? first : second).access, 1, index % 3 ? baseUrl() : otherProcess()),
      ),
    );
    // Equal calls are retries of each other only within one session; here each is a use of its own.
    const recorded = answers.filter(({ body }) => !body.result.isError);
    expect(recorded).toHaveLength(5);
    expect((await listed())[0]).toMatchObject({ spent: 5 });
    expect(await listed()).toHaveLength(1);
  });
});

describe("Revoking a connection", () => {
  test("Ends access on every process at the next request, and every way back", async () => {
    const pair = await connect(people.member, { workspace: slug });
    for (const at of [baseUrl(), otherProcess()]) expect((await callTool(at, pair.access)).status).toBe(200);
    const [connection] = await listed();
    const { status, body } = await as("member", baseUrl()).call("DELETE", path(connection?.id));
    expect([status, body]).toEqual([200, { id: connection?.id, revoked: true }]);
    for (const at of [otherProcess(), baseUrl()]) expect((await callTool(at, pair.access)).status).toBe(401);
    expect((await refresh(otherProcess(), pair.clientId, pair.refresh)).body.error).toBe("invalid_grant");
    expect(await listed()).toEqual([]);
    expect((await as("member").call("DELETE", path(connection?.id))).status).toBe(404);
    const { rows } = await harness.fixtures.sql.query(
      "select revoked_at from public.api_keys where id = $1",
      [connection?.id],
    );
    expect(rows[0].revoked_at).not.toBeNull();
  });

  test("Is allowed to its user and to admins, in its own workspace only", async () => {
    for (const [who, expected] of [
      ["stranger", 404],
      ["viewer", 403],
      ["admin", 200],
    ] as const) {
      await connect(people.member, { workspace: slug });
      const [connection] = await listed();
      expect((await as(who).call("DELETE", path(connection?.id))).status).toBe(expected);
    }
    await connect(people.viewer, { workspace: slug, permissions: ["read_summaries"] });
    const own = (await listed("viewer")).find((each) => each.can_revoke);
    expect((await as("member").call("DELETE", path(own?.id))).status).toBe(403);
    expect((await as("owner").call("DELETE", path(randomUUID()))).status).toBe(404);
    const elsewhere = await harness.fixtures.workspace(`w-${randomUUID()}`);
    await harness.fixtures.sql.query(
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'owner')",
      [elsewhere, people.stranger.id],
    );
    const { rows } = await harness.fixtures.sql.query("select slug from public.workspaces where id = $1", [
      elsewhere,
    ]);
    const crossed = await as("stranger").call(
      "DELETE",
      `/api/v1/workspaces/${rows[0].slug}/connections/${own?.id}`,
    );
    expect(crossed.status).toBe(404);
    expect((await as("viewer").call("DELETE", path(own?.id))).status).toBe(200);
  });

  test("Is refused by policy even past the guard, and leaves the key", async () => {
    await connect(people.member, { workspace: slug });
    const [connection] = await listed();
    const deleteAs = async (who: keyof typeof people) => {
      const client = await harness.fixtures.sql.connect();
      try {
        await client.query("begin");
        await actAs(client, { sub: people[who].id });
        const { rowCount } = await client.query("delete from public.connections where id = $1", [
          connection?.id,
        ]);
        return rowCount;
      } finally {
        await client.query("rollback");
        client.release();
      }
    };
    expect(await deleteAs("stranger")).toBe(0);
    expect(await deleteAs("viewer")).toBe(0);
    expect(await deleteAs("admin")).toBe(1);
    expect(await deleteAs("member")).toBe(1);
  });

  test("Is audited, like connecting, with its author", async () => {
    await connect(people.member, { workspace: slug });
    const [connection] = await listed();
    await as("admin").call("DELETE", path(connection?.id));
    const { rows } = await harness.fixtures.sql.query(
      "select action, actor_id from public.audit_log where workspace_id = $1 and subject = $2 order by at, action",
      [workspaceId, `connection ${connection?.id}`],
    );
    expect(rows).toEqual([
      { action: "connection.created", actor_id: people.member.id },
      { action: "connection.deleted", actor_id: people.admin.id },
    ]);
  });
});

describe("A connection and its user's membership", () => {
  test("Lets a viewer allow reading only, whatever the form says", async () => {
    const { scope, access } = await connect(people.viewer, {
      workspace: slug,
      permissions: ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"],
    });
    expect(scope).toBe("read_summaries");
    expect((await spend(access)).status).toBe(403);
    const link = authorizeUrl(baseUrl(), await registerClient(baseUrl()), makePkce().challenge, {
      resource: undefined,
    });
    const { nonce } = await openPage(people.viewer, link);
    const { location } = await sendForm(people.viewer, allowing(nonce, { workspace: slug, permissions: [] }));
    expect(location).toBe("/oauth/problem?why=choice");
  });

  test("Shrinks at the next call when the member becomes a viewer, and does not grow back", async () => {
    const { access, refresh: token, clientId } = await connect(people.member, { workspace: slug });
    expect((await spend(access)).body.result.isError).toBeFalsy();
    await setRole("member", "viewer");
    expect((await spend(access, 1, otherProcess())).status).toBe(403);
    expect((await callTool(baseUrl(), access)).status).toBe(200);
    expect((await refresh(baseUrl(), clientId, token)).body.scope).toBe("read_summaries");
    await setRole("member", "member");
    expect((await listed())[0]?.permissions).toEqual(["read_summaries"]);
  });

  test("Ends when the member leaves or is removed", async () => {
    const { access } = await connect(people.member, { workspace: slug });
    await harness.fixtures.sql.query(
      "delete from public.workspace_members where workspace_id = $1 and user_id = $2",
      [workspaceId, people.member.id],
    );
    for (const at of [baseUrl(), otherProcess()]) expect((await callTool(at, access)).status).toBe(401);
    expect(await listed()).toEqual([]);
  });

  test("Is separate per workspace for one program", async () => {
    const clientId = await registerClient(baseUrl());
    const here = await connect(people.member, { workspace: slug }, clientId);
    const me = await as("member").get("/api/v1/me");
    const own = (me.body.workspaces as { slug: string; type: string }[]).find(
      ({ type }) => type === "personal",
    );
    const there = await connect(people.member, { workspace: own?.slug ?? "" }, clientId);
    await as("member").call("DELETE", path((await listed())[0]?.id));
    expect((await callTool(baseUrl(), here.access)).status).toBe(401);
    expect((await callTool(baseUrl(), there.access)).status).toBe(200);
  });
});

describe("Expired rows", () => {
  test("Are deleted: tokens, grants that cannot be renewed, and their connections", async () => {
    const { access } = await connect(people.member, { workspace: slug });
    const kept = await connect(people.admin, { workspace: slug });
    await harness.fixtures.sql.query(
      `with g as (
         select g.id from private.oauth_grants as g join public.connections as c on c.id = g.connection_id
         where c.user_id = $1 and c.workspace_id = $2
       ), a as (update private.oauth_access_tokens set expires_at = now() - interval '1 minute' where grant_id in (select id from g))
       update private.oauth_refresh_tokens set expires_at = now() - interval '1 minute' where grant_id in (select id from g)`,
      [people.member.id, workspaceId],
    );
    await harness.fixtures.sql.query("select private.sweep_oauth(1000)");
    expect((await callTool(baseUrl(), access)).status).toBe(401);
    expect((await callTool(baseUrl(), kept.access)).status).toBe(200);
    expect((await listed()).map(({ user }) => user)).toMatchObject([{ id: people.admin.id }]);
    const { rows } = await harness.fixtures.sql.query(
      "select count(*)::int as left from private.oauth_access_tokens where expires_at < now()",
    );
    expect(rows[0].left).toBe(0);
  });
});
