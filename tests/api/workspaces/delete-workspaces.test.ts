import { describe, expect, test, vi } from "vitest";
import { addFactor, resign } from "@/tests/helpers/access/callers";
import { type Answer, apiClient, costMessage, signUpUser } from "@/tests/helpers/client";
import { connectService } from "@/tests/helpers/connect-service";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { latestMail, mailsTo } from "@/tests/helpers/outbox";
import { clientIn } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team, type User } from "@/tests/helpers/team";

const harness = withSharedHarness();
connectService(() => harness.database);
const baseUrl = () => harness.services[0]?.baseUrl ?? "";
const rows = async (text: string, values: unknown[] = []) =>
  (await harness.fixtures.sql.query(text, values)).rows;
const codeOf = ({ status, body }: Answer) => `${status} ${body.error ?? "ok"}`;

const nameOf = async (team: Pick<Team, "workspace">) =>
  (await rows("select name from public.workspaces where id = $1", [team.workspace]))[0].name as string;
const remove = async (team: Team, user: Pick<User, "call"> = team.users.owner) =>
  user.call("POST", `${team.path}/deletion`, { name: await nameOf(team) });
const restore = (team: Team, user: Pick<User, "call"> = team.users.owner) =>
  user.call("DELETE", `${team.path}/deletion`);
const age = (team: Team, days: number) =>
  rows("update public.workspaces set deleted_at = deleted_at - $2 * interval '1 day' where id = $1", [
    team.workspace,
    days,
  ]);

/** Calls a function of the database with a user's claims, past the service's own checks. */
async function callAs(claims: Record<string, unknown>, name: string, workspace: string): Promise<void> {
  const client = await harness.fixtures.sql.connect();
  try {
    await client.query("begin");
    const token = JSON.stringify({ role: "authenticated", ...claims });
    await client.query("select set_config('request.jwt.claims', $1, true)", [token]);
    await client.query(`select ${name}($1)`, [workspace]);
  } finally {
    await client.query("rollback");
    client.release();
  }
}

describe("Deleting a workspace", () => {
  test("Refuses everything in it at once, tells its members until when, and strangers nothing", async () => {
    const team = await makeTeam(harness);
    const key = await clientIn(harness, team.workspace);
    expect((await key.post(costMessage())).status).toBe(201);
    const answer = await remove(team);
    expect(codeOf(answer)).toBe("200 ok");
    expect(answer.body).toMatchObject({ slug: team.slug, role: "owner", deleted_by: team.users.owner.email });
    const days = Date.parse(String(answer.body.erased_at)) - Date.parse(String(answer.body.deleted_at));
    expect(days).toBe(30 * 86_400_000);

    expect(codeOf(await key.post(costMessage()))).toBe("403 workspace_deleted");
    expect(codeOf(await key.get("/api/v1/summary/month"))).toBe("403 workspace_deleted");
    for (const role of ["owner", "admin", "member", "viewer"] as const) {
      const user = team.users[role];
      const refused = await user.get(`${team.path}/metrics`);
      expect(codeOf(refused)).toBe("403 workspace_deleted");
      expect(refused.body.erased_at).toBe(answer.body.erased_at);
      const { body } = await user.get("/api/v1/me");
      expect(body.workspaces).not.toContainEqual(expect.objectContaining({ slug: team.slug }));
      expect(body.deleted_workspaces).toEqual([{ ...answer.body, role }]);
    }
    const other = await team.users.stranger.get(`${team.path}/metrics`);
    expect(codeOf(other)).toBe("404 not_found");
    expect((await team.users.stranger.get("/api/v1/me")).body.deleted_workspaces).toEqual([]);
    const taken = await team.users.stranger.call("POST", "/api/v1/workspaces", {
      name: "x",
      slug: team.slug,
    });
    expect(codeOf(taken)).toBe("409 slug_taken");
  });

  test("Is for owners who give its name", async () => {
    const team = await makeTeam(harness);
    for (const role of ["admin", "member", "viewer"] as const)
      expect(codeOf(await remove(team, team.users[role]))).toBe("403 permission_denied");
    expect(codeOf(await remove(team, team.users.stranger))).toBe("404 not_found");
    const wrong = await team.users.owner.call("POST", `${team.path}/deletion`, { name: "something else" });
    expect(codeOf(wrong)).toBe("400 validation_failed");
    expect(wrong.body.issues).toEqual([expect.objectContaining({ path: "name" })]);
    expect((await team.users.owner.get(`${team.path}/org`)).status).toBe(200);
    expect((await remove(team)).status).toBe(200);
    expect(codeOf(await remove(team))).toBe("403 workspace_deleted");
  });

  test("Needs a session that proved within the last hour who its user is, in the service and in the database", async () => {
    const team = await makeTeam(harness);
    const { id, token } = team.users.owner;
    const old = Math.floor(Date.now() / 1000) - 3_601;
    for (const amr of [
      [{ method: "password", timestamp: old }],
      undefined,
      "password",
      [{ timestamp: "now" }],
    ]) {
      const stale = await resign(harness, token, (claims) => ({ ...claims, amr }));
      expect(codeOf(await remove(team, apiClient(baseUrl(), stale)))).toBe("403 recent_sign_in_required");
      await expect(callAs({ sub: id, amr }, "private.delete_workspace", team.workspace)).rejects.toThrow(
        "signed in within the last hour",
      );
    }
    const proved = [
      { method: "password", timestamp: old },
      { method: "totp", timestamp: old + 3_500 },
    ];
    const fresh = await resign(harness, token, (claims) => ({ ...claims, amr: proved }));
    expect((await remove(team, apiClient(baseUrl(), fresh))).status).toBe(200);
  });

  test("Needs the second factor where the workspace requires it, and so does the undo", async () => {
    const team = await makeTeam(harness);
    const { owner } = team.users;
    await addFactor(harness, owner.id);
    const proved = await resign(harness, owner.token, (claims) => ({ ...claims, aal: "aal2" }));
    const own = apiClient(baseUrl(), proved);
    expect((await own.call("PATCH", team.path, { require_mfa: true })).status).toBe(200);
    expect(codeOf(await remove(team))).toBe("403 mfa_required");
    expect(codeOf(await remove(team, own))).toBe("200 ok");
    expect(codeOf(await restore(team))).toBe("403 mfa_required");
    expect((await own.get("/api/v1/me")).body.deleted_workspaces).toHaveLength(1);
    expect(codeOf(await restore(team, own))).toBe("200 ok");
  });

  test("Refuses the demo, whose workspace belongs to the service", async () => {
    const user = await signUpUser(baseUrl());
    const id = "00000000-0000-4000-8000-0000000000d0";
    await rows(
      "insert into public.workspaces (id, slug, name, type) values ($1, 'demo', 'Demo', 'demo') on conflict do nothing",
      [id],
    );
    await rows(
      "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'owner')",
      [id, user.id],
    );
    const answer = await user.call("POST", "/api/v1/workspaces/demo/deletion", { name: "Demo" });
    expect(codeOf(answer)).toBe("409 conflict");
  });

  test("Ends with one deletion and one entry in the log, when two owners delete at once", async () => {
    const team = await makeTeam(harness);
    await rows("update public.workspace_members set role = 'owner' where user_id = $1", [
      team.users.admin.id,
    ]);
    const answers = await Promise.all([remove(team), remove(team, team.users.admin), remove(team)]);
    expect(answers.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
    expect((await restore(team)).status).toBe(200);
    const entries = await rows(
      "select action from public.audit_log where workspace_id = $1 and subject like 'workspace %' order by at",
      [team.workspace],
    );
    expect(entries.map(({ action }) => action)).toEqual(["workspace.deleted", "workspace.restored"]);
  });

  test("Records nothing after its answer, while messages are being recorded", async () => {
    const team = await makeTeam(harness);
    const key = await clientIn(harness, team.workspace);
    expect((await key.post(costMessage())).status).toBe(201);
    let stopped = false;
    const outcomes = new Map<string, number>();
    const recording = Array.from({ length: 8 }, async () => {
      while (!stopped) {
        const code = codeOf(await key.post(costMessage()));
        outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
        if (code !== "201 ok") return;
      }
    });
    expect((await remove(team)).status).toBe(200);
    const count = async () =>
      (
        await rows("select count(*)::int as count from public.messages where workspace_id = $1", [
          team.workspace,
        ])
      )[0].count as number;
    const then = await count();
    stopped = true;
    await Promise.all(recording);
    expect(await count()).toBe(then);
    expect(
      [...outcomes.keys()].filter((code) => !["201 ok", "403 workspace_deleted"].includes(code)),
    ).toEqual([]);
    expect(then).toBe((outcomes.get("201 ok") ?? 0) + 1);
  });

  test("Mails every member what happened, and the owner how to undo it", async () => {
    const team = await makeTeam(harness);
    const { owner, viewer, stranger } = team.users;
    const subjectsTo = async ({ email }: User) => (await mailsTo(email)).map(({ subject }) => subject);
    const name = await nameOf(team);
    await remove(team);
    await vi.waitFor(async () => {
      expect(await subjectsTo(owner)).toEqual([`The workspace ${name} was deleted`]);
      expect(await subjectsTo(viewer)).toEqual([`The workspace ${name} was deleted`]);
    }, 30_000);
    expect((await latestMail(owner.email)).body).toContain("As an owner, you can undo this");
    expect((await latestMail(owner.email)).link).toMatch(`/${team.slug}`);
    expect((await latestMail(viewer.email)).body).toContain("an owner can undo this");
    expect(await subjectsTo(stranger)).toEqual([]);
    await restore(team);
    await vi.waitFor(
      async () => expect((await latestMail(viewer.email)).subject).toBe(`The workspace ${name} was restored`),
      30_000,
    );
    await vi.waitFor(async () => {
      const left = await rows("select from public.deliveries where details ->> 'slug' = $1", [team.slug]);
      expect(left).toEqual([]);
    }, 30_000);
  });
});

describe("Undoing the deletion", () => {
  test("Restores everything exactly: keys, figures, the log, the default workspace", async () => {
    const team = await makeTeam(harness);
    const key = await clientIn(harness, team.workspace);
    for (const user of Object.values(team.users).slice(0, 5))
      await rows("update public.profiles set default_workspace_id = $1 where id = $2", [
        team.workspace,
        user.id,
      ]);
    for (const quantity of [1, 2, 3]) await key.post(costMessage({ quantity }));
    const { owner } = team.users;
    const prices = { provider: "p", model: "m", unit_type: "requests", price_per_unit: 1 };
    await owner.call("POST", `${team.path}/prices`, prices);
    const digest = async () =>
      (
        await rows(
          `select (to_jsonb(w) - 'none')::text as workspace,
             (select jsonb_agg(to_jsonb(k) - 'last_used_at' order by k.id)::text from public.api_keys as k where k.workspace_id = w.id) as keys,
             (select jsonb_agg(to_jsonb(m) order by m.id)::text from public.messages as m where m.workspace_id = w.id) as messages,
             (select jsonb_agg(to_jsonb(m) order by m.user_id)::text from public.workspace_members as m where m.workspace_id = w.id) as members,
             (select jsonb_agg(p.id order by p.id)::text from public.profiles as p where p.default_workspace_id = w.id) as defaults
           from public.workspaces as w where w.id = $1`,
          [team.workspace],
        )
      )[0];
    const before = await digest();
    const org = (await owner.get(`${team.path}/org`)).body;
    await remove(team);
    // A name can be changed while the default workspace is deleted.
    expect((await owner.call("PATCH", "/api/v1/me", { display_name: null })).status).toBe(200);
    const answer = await restore(team);
    expect(codeOf(answer)).toBe("200 ok");
    expect(await digest()).toEqual(before);
    expect((await owner.get(`${team.path}/org`)).body).toEqual(org);
    expect((await key.post(costMessage())).status).toBe(201);
    expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
    // Once more changes nothing.
    expect(codeOf(await restore(team))).toBe("200 ok");
  });

  test("Is for owners, in the service and in the database", async () => {
    const team = await makeTeam(harness);
    await remove(team);
    for (const role of ["admin", "member", "viewer"] as const) {
      const user = team.users[role];
      expect(codeOf(await restore(team, user))).toBe("403 permission_denied");
      await expect(callAs({ sub: user.id }, "private.restore_workspace", team.workspace)).rejects.toThrow(
        "only an owner",
      );
    }
    expect(codeOf(await restore(team, team.users.stranger))).toBe("404 not_found");
    const key = await clientIn(harness, team.workspace);
    expect(codeOf(await restore(team, key))).toBe("401 invalid_credentials");
  });

  test("Ends after thirty days, when the workspace is unknown to everybody", async () => {
    const team = await makeTeam(harness);
    await remove(team);
    await age(team, 29.99);
    expect((await team.users.owner.get("/api/v1/me")).body.deleted_workspaces).toHaveLength(1);
    await age(team, 0.02);
    expect((await team.users.owner.get("/api/v1/me")).body.deleted_workspaces).toEqual([]);
    expect(codeOf(await restore(team))).toBe("404 not_found");
    expect(codeOf(await team.users.owner.get(`${team.path}/org`))).toBe("404 not_found");
  });
});

test("A link to a deleted workspace invites nobody, until the deletion is undone", async () => {
  const team = await makeTeam(harness);
  const { body } = await team.users.owner.call("POST", `${team.path}/invitations`, { role: "viewer" });
  const token = String(body.link).slice(String(body.link).lastIndexOf("/") + 1);
  await remove(team);
  const guest = await signUpUser(baseUrl());
  expect((await guest.get(`/api/v1/invitations/${token}`)).status).toBe(404);
  expect((await guest.call("POST", `/api/v1/invitations/${token}/accept`)).status).toBe(404);
  await restore(team);
  expect((await guest.call("POST", `/api/v1/invitations/${token}/accept`)).status).toBe(200);
});
