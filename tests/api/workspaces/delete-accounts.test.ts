import pg from "pg";
import { describe, expect, test, vi } from "vitest";
import { eraseAccounts } from "@/lib/access/account/service";
import { resign } from "@/tests/helpers/access/callers";
import { type Answer, apiClient, costMessage, signIn, signUpUser } from "@/tests/helpers/client";
import { connectService } from "@/tests/helpers/connect-service";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { latestMail } from "@/tests/helpers/outbox";
import { clientIn } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { tablesWith } from "@/tests/helpers/tables-with";
import { makeTeam, type User } from "@/tests/helpers/team";

const harness = withSharedHarness();
connectService(() => harness.database);
const baseUrl = () => harness.services[0]?.baseUrl ?? "";
const rows = async (text: string, values: unknown[] = []) =>
  (await harness.fixtures.sql.query(text, values)).rows;
const codeOf = ({ status, body }: Answer) => `${status} ${body.error ?? "ok"}`;
const remove = (user: User) => user.call("POST", "/api/v1/me/deletion", { email: user.email });
const removedLongAgo = (user: User) =>
  rows("update public.profiles set deleted_at = deleted_at - interval '30 days' where id = $1", [user.id]);

/** Signs in again with the password of `signUpUser`. Tokens have whole seconds, so the deletion is moved back by two. */
async function signInAgain(user: User) {
  await rows("update public.workspaces set deleted_at = deleted_at - interval '2 s' where deleted_by = $1", [
    user.id,
  ]);
  await rows("update public.profiles set deleted_at = deleted_at - interval '2 s' where id = $1", [user.id]);
  const account = { email: user.email, password: "correct horse battery" };
  const { body } = await signIn(baseUrl(), account);
  return apiClient(baseUrl(), String(body.access_token));
}

const found = (text: string) => tablesWith(harness.database, text);

describe("Deleting an account", () => {
  test("Ends its sessions, connections and rights at once, and deletes the workspaces that only it is in", async () => {
    const team = await makeTeam(harness);
    const { member, viewer } = team.users;
    const [personal] = (await member.get("/api/v1/me")).body.workspaces as {
      id: string;
      slug: string;
      type: string;
    }[];
    const own = (
      await rows(
        "select w.id, w.slug from public.workspaces as w join public.workspace_members as m on m.workspace_id = w.id where m.user_id = $1 and w.type = 'personal'",
        [member.id],
      )
    )[0];
    expect(personal).toBeDefined();
    const key = await clientIn(harness, own.id);
    expect((await key.post(costMessage())).status).toBe(201);
    expect(codeOf(await remove(member))).toBe("200 ok");
    expect(codeOf(await member.get("/api/v1/me"))).toBe("403 account_deleted");
    expect(codeOf(await member.get(`${team.path}/metrics`))).toBe("404 not_found");
    expect(codeOf(await member.get("/api/v1/me/export"))).toBe("401 invalid_credentials");
    expect(codeOf(await member.call("POST", "/api/v1/workspaces", { name: "New" }))).toBe(
      "403 account_deleted",
    );
    expect(codeOf(await key.post(costMessage()))).toBe("403 workspace_deleted");
    expect(await rows("select from auth.sessions where user_id = $1", [member.id])).toEqual([]);
    expect(codeOf(await viewer.get(`${team.path}/metrics`))).toBe("200 ok");
    await vi.waitFor(
      async () => expect((await latestMail(member.email)).subject).toContain("was deleted"),
      30_000,
    );
    // An old session does not bring it back, however often it asks.
    expect(codeOf(await remove(member))).toBe("403 account_deleted");
    expect(codeOf(await member.get("/api/v1/me"))).toBe("403 account_deleted");
  });

  test("Is not answered with success where its sessions could not be ended", async () => {
    const user = await signUpUser(baseUrl());
    await rows(
      `create function public.keep_session() returns trigger language plpgsql as $$
       begin
         if old.user_id = '${user.id}' then raise 'sessions cannot be ended'; end if;
         return old;
       end $$`,
    );
    const owner = new pg.Client({ connectionString: harness.database.superuserUrl });
    await owner.connect();
    await owner.query(
      "create trigger keep_session before delete on auth.sessions for each row execute function public.keep_session()",
    );
    expect((await remove(user)).status).toBe(500);
    await owner.query("drop function public.keep_session cascade");
    await owner.end();
  });

  test("Documents the refusal that every call of a deleted account's session gets", async () => {
    const { paths } = (await apiClient(baseUrl(), null).get("/api/openapi.json")).body as {
      paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>;
    };
    const user = await signUpUser(baseUrl());
    expect(codeOf(await remove(user))).toBe("200 ok");
    const bodies: Record<string, unknown> = {
      "post /api/v1/me/deletion": { email: user.email },
      "patch /api/v1/me": { display_name: "Ada" },
      "post /api/v1/workspaces": { name: "New" },
    };
    const [refused, documented] = [new Set<string>(), new Set<string>()];
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { responses }] of Object.entries(methods)) {
        const operation = `${method} ${path}`;
        if (responses["403"]?.description.includes("`account_deleted`")) documented.add(operation);
        if (!/^.api.v1.(me|workspaces|invitations)(?!.\{slug\})/.test(path)) continue;
        const address = path.replace("{token}", "a".repeat(43));
        const answer = await user.call(method.toUpperCase(), address, bodies[operation]);
        if (answer.body.error === "account_deleted") refused.add(operation);
      }
    }
    expect(refused.size).toBeGreaterThan(4);
    expect(documented).toEqual(refused);
  });

  test("Needs the address, and a session that proved within the last hour who its user is", async () => {
    const user = await signUpUser(baseUrl());
    expect(codeOf(await user.call("POST", "/api/v1/me/deletion", { email: "other@example.com" }))).toBe(
      "400 validation_failed",
    );
    const amr = [{ method: "password", timestamp: Math.floor(Date.now() / 1000) - 3_601 }];
    const stale = await resign(harness, user.token, (claims) => ({ ...claims, amr }));
    const answer = await apiClient(baseUrl(), stale).call("POST", "/api/v1/me/deletion", {
      email: user.email,
    });
    expect(codeOf(answer)).toBe("403 recent_sign_in_required");
    expect((await user.get("/api/v1/me")).status).toBe(200);
  });

  test("Is refused while it alone owns a workspace with other members, naming it", async () => {
    const team = await makeTeam(harness);
    const { owner, admin } = team.users;
    const answer = await remove(owner);
    expect(codeOf(answer)).toBe("409 conflict");
    expect(answer.body.workspaces).toEqual([{ slug: team.slug, name: team.slug }]);
    expect((await owner.call("POST", `${team.path}/transfer`, { user_id: admin.id })).status).toBe(200);
    expect(codeOf(await remove(owner))).toBe("200 ok");
    expect((await admin.get(`${team.path}/org`)).status).toBe(200);
  });

  test("Leaves no workspace without an owner, when two owners delete their accounts at once", async () => {
    const team = await makeTeam(harness);
    const { owner, admin } = team.users;
    await rows(
      "update public.workspace_members set role = 'owner' where workspace_id = $1 and user_id = $2",
      [team.workspace, admin.id],
    );
    const codes = (await Promise.all([remove(owner), remove(admin)])).map(codeOf).sort();
    expect(codes).toEqual(["200 ok", "409 conflict"]);
    // The owner who is left cannot leave either.
    const left = (await owner.get("/api/v1/me")).status === 200 ? owner : admin;
    const answer = await left.call("DELETE", `${team.path}/members/${left.id}`);
    expect(codeOf(answer)).toBe("409 conflict");
  });

  test("Is undone by signing in, with the workspaces that were deleted with it and no others", async () => {
    const user = await signUpUser(baseUrl());
    const made = await user.call("POST", "/api/v1/workspaces", { name: `Mine ${user.id}` });
    const before = (await user.get("/api/v1/me")).body;
    const gone = await user.call("POST", "/api/v1/workspaces", { name: `Gone ${user.id}` });
    await user.call("POST", `/api/v1/workspaces/${gone.body.slug}/deletion`, { name: gone.body.name });
    const key = await clientIn(harness, String(made.body.id));
    expect(codeOf(await remove(user))).toBe("200 ok");
    const again = await signInAgain(user);
    const { status, body } = await again.get("/api/v1/me");
    expect(status).toBe(200);
    expect(body.workspaces).toEqual(before.workspaces);
    expect(body.deleted_workspaces).toEqual([expect.objectContaining({ slug: gone.body.slug })]);
    expect((await key.post(costMessage())).status).toBe(201);
  });
});

describe("Thirty days later", () => {
  test("Erases the identity, and keeps what was recorded under nobody's name", async () => {
    const team = await makeTeam(harness);
    const { admin, owner } = team.users;
    await admin.call("PATCH", "/api/v1/me", { display_name: "Grace Unmistakable" });
    const batch = { messages: [costMessage({}, { source: "manual" })] };
    expect((await admin.call("POST", `${team.path}/messages/batch`, batch)).status).toBe(207);
    await admin.call("POST", `${team.path}/budgets`, { name: "B", scope_type: "global", amount: 5 });
    await owner.call("POST", `${team.path}/invitations`, { role: "viewer", email: admin.email });
    // Another address that ends in the same way stays.
    await owner.call("POST", `${team.path}/invitations`, { role: "viewer", email: `x${admin.email}` });
    await owner.call("PATCH", `${team.path}/members/${admin.id}`, { role: "member" });
    expect(codeOf(await remove(admin))).toBe("200 ok");
    expect(await eraseAccounts()).toBe(0);
    await removedLongAgo(admin);
    expect(codeOf(await (await signInAgain(admin)).get("/api/v1/me"))).toBe("403 account_deleted");
    expect(await eraseAccounts()).toBe(1);
    const named = await found(`x${admin.email}`);
    expect(named).toEqual(["audit_log", "invitations"]);
    await rows("delete from public.invitations where workspace_id = $1", [team.workspace]);
    await rows(
      "update public.audit_log set before = null, after = null where coalesce(after, before)::text like '%x' || $1 || '%'",
      [admin.email],
    );
    expect((await found(admin.email)).filter((place) => place !== "local_auth.outbox")).toEqual([]);
    expect(await found("Grace Unmistakable")).toEqual([]);
    for (const place of await found(admin.id))
      expect(place).toMatch(/^(audit_log|private\.messages_\d{4}_\d\d)$/);
    const stored = await rows("select count(*)::int as count from public.messages where workspace_id = $1", [
      team.workspace,
    ]);
    expect(stored[0].count).toBe(1);
    expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
    const log = (await owner.get(`${team.path}/audit?limit=100`)).body.entries as {
      actor: { email: string } | null;
    }[];
    expect(log.map(({ actor }) => actor?.email)).toContainEqual(
      expect.stringMatching(/^deleted-[0-9a-f]{12}$/),
    );
    // The address is free for a new account, which has nothing of the old one.
    const { status, body } = await apiClient(baseUrl(), null).call("POST", "/auth/v1/signup", {
      email: admin.email,
      password: "another horse battery",
    });
    expect([status, (body.user as { id: string }).id === admin.id]).toEqual([200, false]);
  });
});

test("Exports what is kept of a user, and of nobody else", async () => {
  const team = await makeTeam(harness);
  const { owner, viewer } = team.users;
  await owner.call("PATCH", team.path, { description: "Ours" });
  const { status, body } = await owner.get("/api/v1/me/export");
  expect(status).toBe(200);
  expect(body.profile).toMatchObject({ id: owner.id, email: owner.email });
  expect(body.sessions).toHaveLength(1);
  expect(body.memberships).toContainEqual(expect.objectContaining({ slug: team.slug, role: "owner" }));
  expect(body.audit).toContainEqual(
    expect.objectContaining({ action: "workspace.changed", actor_id: owner.id }),
  );
  const other = JSON.stringify((await viewer.get("/api/v1/me/export")).body);
  expect(other).not.toContain(owner.email);
  expect(other).toContain(viewer.email);
  expect(JSON.stringify(body)).not.toMatch(/refresh_token|encrypted_password|secret/);
});
