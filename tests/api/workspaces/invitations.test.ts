import { createHash, randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { type Answer, signUpUser } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser, makeTeam, type Team, type User } from "@/tests/helpers/team";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";
const codeOf = ({ status, body }: Answer) => `${status} ${body.error ?? "ok"}`;
const pathsOf = ({ body }: Answer) => (body.issues as { path: string }[]).map(({ path }) => path);
const dayMs = 24 * 60 * 60 * 1000;

let team: Team;
beforeAll(async () => {
  team = await makeTeam(harness);
});

type Invitation = { id: string; role: string; email: string | null; expires_at: string; created_at: string };
const invite = async (by: User, body: Record<string, unknown> = { role: "viewer" }, path = team.path) => {
  const answer = await by.call("POST", `${path}/invitations`, body);
  if (answer.status !== 201) throw new Error(codeOf(answer));
  const { invitation, link } = answer.body as { invitation: Invitation; link: string };
  return { invitation, link, token: link.split("/").at(-1) ?? "" };
};
const look = (user: User, token: string) => user.get(`/api/v1/invitations/${token}`);
const accept = (user: User, token: string) => user.call("POST", `/api/v1/invitations/${token}/accept`);
const list = async (user: User) =>
  (await user.get(`${team.path}/invitations`)).body.invitations as Invitation[];
const memberships = async (user: User) =>
  ((await user.get("/api/v1/me")).body.workspaces as { slug: string; role: string }[]).filter(
    ({ slug }) => slug === team.slug,
  );

test("Shows an invitation's offer, makes its opener a member once, and never shows the link again", async () => {
  const { invitation, link, token } = await invite(team.users.admin, { role: "member" });
  expect(link).toBe(`${baseUrl()}/invite/${token}`);
  expect(Date.parse(invitation.expires_at) - Date.parse(invitation.created_at)).toBe(7 * dayMs);
  const listed = await team.users.owner.get(`${team.path}/invitations`);
  expect(listed.body.invitations).toContainEqual(invitation);
  expect(JSON.stringify(listed.body)).not.toContain(token);

  const [guest, late] = [await signUpUser(baseUrl()), await signUpUser(baseUrl())];
  expect((await look(guest, token)).body).toEqual({
    workspace: { name: team.slug },
    role: "member",
    invited_by: team.users.admin.email,
    email: null,
    expires_at: invitation.expires_at,
    is_for_you: true,
    already_member: false,
  });
  expect((await accept(guest, token)).body).toMatchObject({ slug: team.slug, role: "member" });
  expect(codeOf(await guest.get(`${team.path}/org`))).toBe("200 ok");
  expect(codeOf(await accept(late, token))).toBe("404 not_found");
  expect(await list(team.users.owner)).not.toContainEqual(invitation);

  const { rows } = await harness.fixtures.sql.query(`
    select coalesce(string_agg(t::text, ' '), '') as all from (
      select to_jsonb(i) from public.invitations as i union all select to_jsonb(s) from private.invitation_secrets as s
      union all select to_jsonb(a) from public.audit_log as a
    ) as t`);
  expect(rows[0].all).not.toContain(token);
});

test("Gives the same bytes for unknown, damaged, used, revoked and expired links", async () => {
  const [used, revoked, expired] = await Promise.all([1, 2, 3].map(() => invite(team.users.owner)));
  if (!used || !revoked || !expired) throw new Error("An invitation is missing.");
  await accept(await signUpUser(baseUrl()), used.token);
  const revocation = await team.users.admin.call(
    "DELETE",
    `${team.path}/invitations/${revoked.invitation.id}`,
  );
  expect(codeOf(revocation)).toBe("200 ok");
  await harness.fixtures.sql.query(
    "update public.invitations set created_at = now() - interval '8 days', expires_at = now() - interval '1 second' where id = $1",
    [expired.invitation.id],
  );
  const guest = await signUpUser(baseUrl());
  const tokens = [used.token, revoked.token, expired.token, "x", "%00", randomUUID(), `${used.token}=`];
  const answers = await Promise.all(tokens.flatMap((token) => [look(guest, token), accept(guest, token)]));
  const bodies = answers.map(({ status, body: { request_id, ...rest } }) => JSON.stringify({ status, rest }));
  expect(new Set(bodies).size).toBe(1);
  expect(answers[0]?.status).toBe(404);
  expect((await list(team.users.admin)).find(({ id }) => id === expired.invitation.id)).toMatchObject({
    expired: true,
  });
});

test("Lets one of many at once accept a link", async () => {
  const { token } = await invite(team.users.owner);
  const guests = await Promise.all(Array.from({ length: 8 }, () => signUpUser(baseUrl())));
  const answers = await Promise.all(guests.map((guest) => accept(guest, token)));
  expect(answers.map(codeOf).filter((code) => code === "200 ok")).toHaveLength(1);
  const joined = await Promise.all(guests.map(memberships));
  expect(joined.flat()).toHaveLength(1);
});

test("Makes one person a member once who accepts two links at once", async () => {
  const links = await Promise.all([invite(team.users.owner), invite(team.users.owner, { role: "admin" })]);
  const guest = await signUpUser(baseUrl());
  const answers = await Promise.all(links.map(({ token }) => accept(guest, token)));
  expect(answers.map(codeOf)).toEqual(["200 ok", "200 ok"]);
  expect(await memberships(guest)).toHaveLength(1);
});

test("Keeps a member's role and the link when a member opens it", async () => {
  const { token } = await invite(team.users.owner, { role: "viewer" });
  const { owner, admin } = team.users;
  expect((await look(admin, token)).body).toMatchObject({ already_member: true });
  for (const user of [owner, admin])
    expect((await accept(user, token)).body).toMatchObject({ role: user === owner ? "owner" : "admin" });
  const raise = await invite(owner, { role: "admin" });
  expect((await accept(team.users.viewer, raise.token)).body).toMatchObject({ role: "viewer" });
  expect((await accept(await signUpUser(baseUrl()), token)).body).toMatchObject({ role: "viewer" });
});

test("Refuses an address's invitation to others and names the address", async () => {
  const [ada, bob] = [await signUpUser(baseUrl()), await signUpUser(baseUrl())];
  const { token, invitation } = await invite(team.users.admin, {
    role: "viewer",
    email: ` ${ada.email.toUpperCase()} `,
  });
  expect(invitation.email).toBe(ada.email);
  expect((await look(bob, token)).body).toMatchObject({ is_for_you: false, email: ada.email });
  const refusal = await accept(bob, token);
  expect(codeOf(refusal)).toBe("403 permission_denied");
  expect(refusal.body.error_description).toContain(bob.email);
  expect(await memberships(bob)).toEqual([]);
  expect((await accept(ada, token)).body).toMatchObject({ role: "viewer" });
});

test("Makes nobody a member whom the invitation is not for, also where the service does not check", async () => {
  const [ada, bob] = [await signUpUser(baseUrl()), await signUpUser(baseUrl())];
  const { token } = await invite(team.users.admin, { role: "viewer", email: ada.email });
  const acceptInDatabase = (user: { id: string }) =>
    harness.fixtures.sql.query(
      `select private.accept_invitation($1) from set_config('request.jwt.claims', $2, false)`,
      [createHash("sha256").update(token).digest("hex"), JSON.stringify({ sub: user.id })],
    );
  await acceptInDatabase(bob);
  expect(await memberships(bob)).toEqual([]);
  await acceptInDatabase(ada);
  await harness.fixtures.sql.query("reset request.jwt.claims");
  expect(await memberships(ada)).toMatchObject([{ role: "viewer" }]);
});

describe("An admin who loses the role", () => {
  test.each([
    [
      "is demoted",
      (path: string, id: string) => team.users.owner.call("PATCH", `${path}/${id}`, { role: "member" }),
    ],
    ["is removed", (path: string, id: string) => team.users.owner.call("DELETE", `${path}/${id}`)],
  ])("Has no open invitations once they are one who %s", async (_, end) => {
    const former = await addUser(harness, team.workspace, "admin");
    const { token } = await invite(former, { role: "admin" });
    await end(`${team.path}/members`, former.id);
    expect(codeOf(await accept(await signUpUser(baseUrl()), token))).toBe("404 not_found");
    expect(codeOf(await accept(former, token))).toBe("404 not_found");
  });
});

test("Lets only admins invite, list and revoke, in their own workspace", async () => {
  const { invitation } = await invite(team.users.owner);
  const path = `${team.path}/invitations`;
  for (const user of [team.users.member, team.users.viewer]) {
    expect(codeOf(await user.call("POST", path, { role: "viewer" }))).toBe("403 permission_denied");
    expect(codeOf(await user.get(path))).toBe("403 permission_denied");
    expect(codeOf(await user.call("DELETE", `${path}/${invitation.id}`))).toBe("403 permission_denied");
  }
  const other = await makeTeam(harness);
  const foreign = await other.users.owner.call("DELETE", `${other.path}/invitations/${invitation.id}`);
  expect(codeOf(foreign)).toBe("404 not_found");
});

test.each([
  [{ role: "owner" }, "role"],
  [{}, "role"],
  [{ role: "viewer", email: "nobody" }, "email"],
  [{ role: "viewer", expires_in_days: 0 }, "expires_in_days"],
  [{ role: "viewer", expires_in_days: 31 }, "expires_in_days"],
  [{ role: "viewer", expires_in_days: 1.5 }, "expires_in_days"],
  [{ role: "viewer", token: "mine" }, "token"],
])("Refuses an invitation of %j, naming %s", async (body, path) => {
  const answer = await team.users.admin.call("POST", `${team.path}/invitations`, body);
  expect(codeOf(answer)).toBe("400 validation_failed");
  expect(pathsOf(answer)).toEqual([path]);
});
