import { beforeEach, describe, expect, test } from "vitest";
import { makeClient, must, somePassword } from "@/tests/helpers/auth-server";
import { codeOf, enrolAuthenticator } from "@/tests/helpers/authenticator";
import { apiClient } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team, type User } from "@/tests/helpers/team";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

/** Signs a user in anew and has them set an authenticator up. @returns calls with their new token, and the app's secret */
async function proveSecondFactor({ email }: User) {
  const client = makeClient(baseUrl());
  must(await client.auth.signInWithPassword({ email, password: somePassword }));
  const factor = await enrolAuthenticator(client);
  const token = must(await client.auth.getSession()).session?.access_token ?? "";
  return { client, token, ...factor, ...apiClient(baseUrl(), token) };
}

let team: Team;
beforeEach(async () => {
  team = await makeTeam(harness);
});
const require = (user: Pick<User, "call">, wanted = true) =>
  user.call("PATCH", team.path, { require_mfa: wanted });

describe("A user with an authenticator", () => {
  test("Is refused everything with a token made without the code, and told what to do", async () => {
    const { owner } = team.users;
    const proved = await proveSecondFactor(owner);
    for (const path of ["/api/v1/me", `${team.path}/org`, `${team.path}/metrics`]) {
      const { status, body } = await owner.get(path);
      expect([status, body.error]).toEqual([403, "mfa_required"]);
      expect(body.error_description).toContain("auth.mfa.challengeAndVerify");
    }
    expect((await proved.get(`${team.path}/org`)).status).toBe(200);

    const client = makeClient(baseUrl());
    must(await client.auth.signInWithPassword({ email: owner.email, password: somePassword }));
    const low = must(await client.auth.getSession()).session?.access_token ?? "";
    expect((await apiClient(baseUrl(), low).get("/api/v1/me")).status).toBe(403);
    const code = codeOf(proved.secret);
    must(await client.auth.mfa.challengeAndVerify({ factorId: proved.factorId, code }));
    const high = must(await client.auth.getSession()).session?.access_token ?? "";
    expect((await apiClient(baseUrl(), high).get("/api/v1/me")).status).toBe(200);
  });

  test("Signs in without a code after removing it", async () => {
    const { member } = team.users;
    const { client, factorId } = await proveSecondFactor(member);
    expect((await member.get("/api/v1/me")).status).toBe(403);
    must(await client.auth.mfa.unenroll({ factorId }));
    expect((await member.get("/api/v1/me")).status).toBe(200);
  });
});

describe("A workspace and its second factor", () => {
  test("Requires a code once an admin with a proved factor says so, which is audited", async () => {
    const { admin, member, viewer, stranger } = team.users;
    const unproved = await require(admin);
    expect([unproved.status, unproved.body.error]).toEqual([403, "mfa_required"]);
    expect(unproved.body.error_description).toContain("lock yourself out");
    const proved = await proveSecondFactor(admin);
    expect((await require(proved)).body).toMatchObject({ require_mfa: true, role: "admin" });
    const audit = await proved.get(`${team.path}/audit`);
    expect((audit.body.entries as object[])[0]).toMatchObject({
      action: "workspace.changed",
      before: { require_mfa: false },
      after: { require_mfa: true },
    });
    for (const user of [await proveSecondFactor(member), await proveSecondFactor(viewer)])
      expect((await require(user, false)).body.error).toBe("permission_denied");
    expect((await require(await proveSecondFactor(stranger), false)).body.error).toBe("not_found");
    expect((await require(proved, false)).body).toMatchObject({ require_mfa: false });
  });

  test("Refuses members without a code on all its routes, and on no others", async () => {
    const { owner, member, viewer, stranger } = team.users;
    await require(await proveSecondFactor(owner));
    for (const user of [member, viewer]) {
      for (const path of ["org", "metrics", "activity", "api-keys", "budgets", "projects"]) {
        const { status, body } = await user.get(`${team.path}/${path}`);
        expect([path, status, body.error]).toEqual([path, 403, "mfa_required"]);
        expect(body.error_description).toContain("requires two-factor authentication");
      }
      const made = await user.call("POST", `${team.path}/api-keys`, {
        name: "Mine",
        permissions: ["log_usage"],
      });
      expect(made.body.error).toBe("mfa_required");
      const me = await user.get("/api/v1/me");
      expect(me.body.locked_workspaces).toEqual([{ slug: team.slug, name: expect.any(String) }]);
      expect(me.body.workspaces).toMatchObject([{ type: "personal" }]);
    }
    const hidden = await stranger.get(`${team.path}/org`);
    expect([hidden.status, hidden.body.error]).toEqual([404, "not_found"]);
    expect((await stranger.get("/api/v1/me")).body.locked_workspaces).toEqual([]);

    const proved = await proveSecondFactor(member);
    expect((await proved.get(`${team.path}/org`)).status).toBe(200);
    expect((await proved.get("/api/v1/me")).body).toMatchObject({ locked_workspaces: [] });
  });

  test("Records for API keys and answers them when it requires a code", async () => {
    const { secret } = await harness.fixtures.key(team.workspace);
    await require(await proveSecondFactor(team.users.owner));
    expect((await apiClient(baseUrl(), secret).get("/api/v1/summary/month")).status).toBe(200);
  });
});
