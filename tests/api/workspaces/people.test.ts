import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { type Answer, apiClient, signUpUser } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser, makeTeam, type Team, type User } from "@/tests/helpers/team";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";
const codeOf = ({ status, body }: Answer) => `${status} ${body.error ?? "ok"}`;
const pathsOf = ({ body }: Answer) => (body.issues as { path: string }[]).map(({ path }) => path);
const roleIn = async (team: Team, user: User): Promise<string | undefined> => {
  const { rows } = await harness.fixtures.sql.query(
    "select role from public.workspace_members where workspace_id = $1 and user_id = $2",
    [team.workspace, user.id],
  );
  return rows[0]?.role;
};

describe("Creating a workspace", () => {
  let user: User;
  beforeAll(async () => {
    user = await signUpUser(baseUrl());
  });
  const make = (body: unknown) => user.call("POST", "/api/v1/workspaces", body);
  const someName = () => `Team ${randomUUID()}`;

  test("Makes its creator the owner, with a slug from its name, and lists it in me", async () => {
    const name = `Café ${randomUUID().slice(0, 8)}`;
    const { status, body } = await make({ name, base_currency: "EUR" });
    const slug = `cafe-${name.slice(5)}`;
    expect(status).toBe(201);
    expect(body).toMatchObject({ name, slug, type: "team", base_currency: "EUR", role: "owner" });
    expect((await user.get("/api/v1/me")).body.workspaces).toContainEqual(body);
    expect((await user.get(`/api/v1/workspaces/${slug}/org`)).body).toMatchObject({
      workspace: body,
      members: [{ user_id: user.id, role: "owner", email: user.email }],
      counts: { members: 1, projects: 0, api_keys: 0, budgets: 0, connections: 0 },
    });
  });

  test("Refuses a taken slug, also for many at once", async () => {
    const slug = `w-${randomUUID()}`;
    const answers = await Promise.all([1, 2, 3, 4].map(() => make({ name: "Mine", slug })));
    expect(answers.map(codeOf).sort()).toEqual([
      "201 ok",
      "409 slug_taken",
      "409 slug_taken",
      "409 slug_taken",
    ]);
  });

  test.each([
    [{ name: "" }, "name"],
    [{ slug: "x" }, "name"],
    [{ name: "数据" }, "slug"],
    [{ name: "Docs" }, "slug"],
    [{ name: "x", slug: "invite" }, "slug"],
    [{ name: "x", slug: "demo" }, "slug"],
    [{ name: "x", slug: "Not A Slug" }, "slug"],
    [{ name: "x", base_currency: "XXQ" }, "base_currency"],
    [{ name: "x", base_currency: "eur" }, "base_currency"],
    [{ name: "x", type: "demo" }, "type"],
  ])("Refuses %j, naming %s", async (body, path) => {
    const answer = await make(body);
    expect(codeOf(answer)).toBe("400 validation_failed");
    expect(pathsOf(answer)).toEqual([path]);
  });

  test("Ends at twenty owned workspaces, also for many at once", async () => {
    const maker = await signUpUser(baseUrl());
    const answers = await Promise.all(
      Array.from({ length: 24 }, () => maker.call("POST", "/api/v1/workspaces", { name: someName() })),
    );
    expect(answers.map(codeOf).filter((code) => code === "201 ok")).toHaveLength(20);
    expect(answers.map(codeOf).filter((code) => code === "409 conflict")).toHaveLength(4);
  });

  test("Allows thirty attempts an hour with an exact Retry-After", async () => {
    const maker = await signUpUser(baseUrl());
    const answers = await Promise.all(
      Array.from({ length: 32 }, () =>
        maker.call("POST", "/api/v1/workspaces", { name: "x", slug: "settings" }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(2);
    const [first] = refused;
    expect(first?.body).toMatchObject({ error: "rate_limited", limit: 30 });
    expect(first?.headers.get("retry-after")).toBe(String(first?.body.retry_after_seconds));
  });
});

test("Lets admins rename a workspace, and nobody below", async () => {
  const { path, users } = await makeTeam(harness);
  const change = (user: User, body: unknown) => user.call("PATCH", path, body);
  expect((await change(users.admin, { name: "New", description: "What we spend" })).body).toMatchObject({
    name: "New",
    description: "What we spend",
    base_currency: "USD",
    role: "admin",
  });
  expect((await change(users.owner, { description: null })).body).toMatchObject({
    name: "New",
    description: null,
  });
  expect(codeOf(await change(users.member, { name: "Mine" }))).toBe("403 permission_denied");
  expect(codeOf(await change(users.stranger, { name: "Mine" }))).toBe("404 not_found");
  expect(pathsOf(await change(users.owner, { slug: "other" }))).toEqual(["slug"]);
  expect(pathsOf(await change(users.owner, { base_currency: "QQQ" }))).toEqual(["base_currency"]);
});

describe("Roles", () => {
  let team: Team;
  beforeAll(async () => {
    team = await makeTeam(harness);
  });
  const address = (user: User) => `${team.path}/members/${user.id}`;
  const change = (by: User, user: User, role: string) => by.call("PATCH", address(user), { role });
  const remove = (by: User, user: User) => by.call("DELETE", address(user));

  test("Are changed by admins, who neither make, change nor remove an owner", async () => {
    const { owner, admin, member, colleague, viewer, stranger } = team.users;
    expect((await change(admin, viewer, "member")).body).toMatchObject({
      user_id: viewer.id,
      role: "member",
    });
    expect(codeOf(await change(admin, viewer, "viewer"))).toBe("200 ok");
    expect(codeOf(await change(admin, colleague, "admin"))).toBe("200 ok");
    expect(codeOf(await change(colleague, admin, "member"))).toBe("200 ok");
    expect(codeOf(await change(colleague, admin, "admin"))).toBe("200 ok");
    for (const [by, user, role] of [
      [admin, owner, "admin"],
      [admin, member, "owner"],
      [admin, admin, "owner"],
    ] as const) {
      expect(codeOf(await change(by, user, role))).toBe("403 permission_denied");
    }
    expect(codeOf(await remove(admin, owner))).toBe("403 permission_denied");
    expect(codeOf(await change(member, viewer, "member"))).toBe("403 permission_denied");
    expect(codeOf(await remove(member, viewer))).toBe("403 permission_denied");
    expect(codeOf(await change(admin, stranger, "viewer"))).toBe("404 not_found");
    expect(codeOf(await remove(stranger, viewer))).toBe("404 not_found");
    expect(pathsOf(await change(admin, viewer, "boss"))).toEqual(["role"]);
    expect(await roleIn(team, owner)).toBe("owner");
  });

  test("Let an owner make another owner and undo it", async () => {
    const { owner, member } = team.users;
    expect(codeOf(await change(owner, member, "owner"))).toBe("200 ok");
    expect(codeOf(await change(member, owner, "admin"))).toBe("200 ok");
    expect(codeOf(await change(member, owner, "owner"))).toBe("200 ok");
    expect(codeOf(await change(owner, member, "member"))).toBe("200 ok");
  });

  test("Hide everything from a member who left, and clear their default workspace", async () => {
    const user = await addUser(harness, team.workspace, "viewer");
    const chosen = await user.call("PATCH", "/api/v1/me", { default_workspace_id: team.workspace });
    expect(chosen.body).toMatchObject({ profile: { default_workspace_id: team.workspace } });
    expect((await remove(user, user)).body).toMatchObject({ user_id: user.id, role: "viewer" });
    expect(codeOf(await user.get(`${team.path}/org`))).toBe("404 not_found");
    expect((await user.get("/api/v1/me")).body).toMatchObject({ profile: { default_workspace_id: null } });
  });

  test("Keep the keys of a removed member working", async () => {
    const user = await addUser(harness, team.workspace, "member");
    const { body } = await user.call("POST", `${team.path}/api-keys`, {
      name: "CI",
      permissions: ["read_summaries"],
    });
    expect(codeOf(await remove(team.users.admin, user))).toBe("200 ok");
    expect(codeOf(await apiClient(baseUrl(), String(body.secret)).get("/api/v1/summary/month"))).toBe(
      "200 ok",
    );
  });
});

describe("The last owner", () => {
  test("Cannot leave, be removed or be demoted", async () => {
    const { path, users } = await makeTeam(harness);
    const own = `${path}/members/${users.owner.id}`;
    expect(codeOf(await users.owner.call("DELETE", own))).toBe("409 conflict");
    expect(codeOf(await users.owner.call("PATCH", own, { role: "admin" }))).toBe("409 conflict");
  });

  test("Stays when two owners leave or demote each other at once, twenty times over", async () => {
    for (let round = 0; round < 20; round += 1) {
      const team = await makeOwners();
      const [one, other] = team.owners;
      const answers = await Promise.all([
        one.call("DELETE", `${team.path}/members/${(round % 2 ? one : other).id}`),
        other.call("PATCH", `${team.path}/members/${(round % 4 > 1 ? one : other).id}`, { role: "viewer" }),
      ]);
      const { rows } = await harness.fixtures.sql.query(
        "select count(*)::int as owners from public.workspace_members where workspace_id = $1 and role = 'owner'",
        [team.workspace],
      );
      expect(rows[0].owners, JSON.stringify(answers.map(codeOf))).toBeGreaterThan(0);
      for (const { status } of answers) expect([200, 403, 404, 409]).toContain(status);
    }
  });

  const pair: User[] = [];
  beforeAll(async () => {
    pair.push(await signUpUser(baseUrl()), await signUpUser(baseUrl()));
  });
  async function makeOwners() {
    const slug = `w-${randomUUID()}`;
    const workspace = await harness.fixtures.workspace(slug);
    for (const { id } of pair)
      await harness.fixtures.sql.query(
        "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'owner')",
        [workspace, id],
      );
    return { workspace, path: `/api/v1/workspaces/${slug}`, owners: pair as [User, User] };
  }
});

describe("Transferring the ownership", () => {
  test("Makes the other the owner and the former owner an admin", async () => {
    const team = await makeTeam(harness);
    const { owner, viewer, admin, stranger } = team.users;
    const transfer = (by: User, to: User) => by.call("POST", `${team.path}/transfer`, { user_id: to.id });
    expect(codeOf(await transfer(admin, viewer))).toBe("403 permission_denied");
    expect(codeOf(await transfer(owner, stranger))).toBe("404 not_found");
    expect(pathsOf(await transfer(owner, owner))).toEqual(["user_id"]);
    expect((await transfer(owner, viewer)).body).toMatchObject({
      owner: { user_id: viewer.id, role: "owner" },
      former_owner: { user_id: owner.id, role: "admin" },
    });
    expect(codeOf(await transfer(owner, admin))).toBe("403 permission_denied");
  });

  test("Makes one of two the owner when both are named at once", async () => {
    const team = await makeTeam(harness);
    const { owner, member, colleague } = team.users;
    const answers = await Promise.all(
      [member, colleague].map(({ id }) => owner.call("POST", `${team.path}/transfer`, { user_id: id })),
    );
    expect(answers.map(codeOf).sort()).toEqual(["200 ok", "403 permission_denied"]);
    const roles = await Promise.all([owner, member, colleague].map((user) => roleIn(team, user)));
    expect(roles.sort()).toEqual(["admin", "member", "owner"]);
  });
});

describe("One's own profile", () => {
  let user: User;
  beforeAll(async () => {
    user = await signUpUser(baseUrl());
  });
  const change = (body: unknown) => user.call("PATCH", "/api/v1/me", body);

  test("Changes field by field; null clears a field", async () => {
    const avatar_url = "https://example.com/ada.png";
    expect((await change({ display_name: "Ada", avatar_url })).body).toMatchObject({
      profile: { display_name: "Ada", avatar_url },
    });
    expect((await change({ avatar_url: null })).body).toMatchObject({
      profile: { display_name: "Ada", avatar_url: null },
    });
  });

  test("Refuses a picture that is not https, another user's workspace and another address", async () => {
    const elsewhere = await harness.fixtures.workspace();
    for (const avatar_url of ["http://example.com/a.png", "javascript:alert(1)", "data:image/png;base64,AA"])
      expect(pathsOf(await change({ avatar_url }))).toEqual(["avatar_url"]);
    expect(pathsOf(await change({ default_workspace_id: elsewhere }))).toEqual(["default_workspace_id"]);
    expect(pathsOf(await change({ email: "root@example.com" }))).toEqual(["email"]);
  });
});

test.each(["/api/v1/workspaces", "/api/v1/me"])(
  "Refuses a body of more than a mebibyte by %s",
  async (path) => {
    const user = await signUpUser(baseUrl());
    const method = path.endsWith("me") ? "PATCH" : "POST";
    const { status, body } = await user.call(method, path, { name: "x".repeat(1024 * 1024) });
    expect([status, body.error]).toEqual([413, "payload_too_large"]);
  },
);
