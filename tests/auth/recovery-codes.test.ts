import { describe, expect, test } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";
import { enrolAuthenticator } from "@/tests/helpers/authenticator";
import { latestMail } from "@/tests/helpers/outbox";

const server = withAuthServer();

const experimental = { recoveryCodes: true };
const signIn = async (email: string) => {
  const client = makeClient(server.url, "any-key", { experimental });
  must(await client.auth.signInWithPassword({ email, password: somePassword }));
  return client;
};
const begin = async () => {
  const email = someEmail();
  const client = makeClient(server.url, "any-key", { experimental });
  must(await client.auth.signUp({ email, password: somePassword }));
  const { factorId } = await enrolAuthenticator(client);
  return { client, email, factorId, codes: client.auth.mfa.recoveryCodes };
};

describe("The unmodified supabase-js client", () => {
  test("Makes ten codes, each of which raises one session once, in any notation", async () => {
    const { email, codes } = await begin();
    const made = must(await codes.generate({ friendlyName: "In the safe" }));
    expect(made).toMatchObject({ type: "recovery_code", friendly_name: "In the safe", total: 10 });
    expect(new Set(made.codes).size).toBe(10);
    expect(must(await codes.getStatus())).toMatchObject({ id: made.id, total: 10, remaining: 10 });

    const code = made.codes[0] ?? "";
    const typed = ` ${(code.match(/.{4}/g) ?? []).join("-").toUpperCase().replaceAll("0", "o").replaceAll("1", "l")}`;
    const later = await signIn(email);
    const raised = must(await later.auth.mfa.recoveryCodes.verify({ code: typed }));
    expect(raised.user.factors?.map(({ factor_type }) => factor_type)).toEqual(["totp", "recovery_code"]);
    const { currentLevel, currentAuthenticationMethods } = must(
      await later.auth.mfa.getAuthenticatorAssuranceLevel(),
    );
    expect(currentLevel).toBe("aal2");
    expect(currentAuthenticationMethods).toMatchObject([
      { method: "mfa/recovery_code" },
      { method: "password" },
    ]);
    expect(must(await later.auth.mfa.recoveryCodes.getStatus()).remaining).toBe(9);

    const again = await (await signIn(email)).auth.mfa.recoveryCodes.verify({ code });
    expect(again.error).toMatchObject({ status: 422, code: "mfa_verification_failed" });
    const mail = await latestMail(email);
    expect(mail.subject).toBe("A recovery code was used to sign in to your account");
    expect(mail.body).toContain("9 of your codes are left.");
  });

  test("Replaces its codes, after which the old ones are refused", async () => {
    const { email, codes } = await begin();
    const first = must(await codes.generate());
    expect((await codes.generate()).error).toMatchObject({ status: 422, code: "mfa_verified_factor_exists" });
    const second = must(await codes.regenerate());
    expect(second.id).toBe(first.id);
    expect(second.codes.filter((code) => first.codes.includes(code))).toEqual([]);
    const { auth } = await signIn(email);
    const old = await auth.mfa.recoveryCodes.verify({ code: first.codes[0] ?? "" });
    expect(old.error).toMatchObject({ code: "mfa_verification_failed" });
    must(await auth.mfa.recoveryCodes.verify({ code: second.codes[0] ?? "" }));
  });

  test("Deletes its codes, and only then its last authenticator", async () => {
    const { client, codes, factorId } = await begin();
    expect((await codes.getStatus()).error).toMatchObject({ status: 404, code: "mfa_factor_not_found" });
    const { id } = must(await codes.generate());
    expect((await client.auth.mfa.unenroll({ factorId: id })).error).toMatchObject({
      code: "validation_failed",
    });
    expect((await client.auth.mfa.unenroll({ factorId })).error).toMatchObject({
      status: 422,
      code: "mfa_recovery_codes_sole_factor",
    });
    expect(must(await codes.unenroll())).toEqual({ id });
    must(await client.auth.mfa.unenroll({ factorId }));
    must(await client.auth.refreshSession());
    expect((await codes.generate()).error).toMatchObject({ code: "insufficient_aal" });
  });

  test("At the first level neither makes, replaces nor removes codes", async () => {
    const { email, codes } = await begin();
    must(await codes.generate());
    const { recoveryCodes } = (await signIn(email)).auth.mfa;
    for (const act of [recoveryCodes.generate(), recoveryCodes.regenerate(), recoveryCodes.unenroll()])
      expect((await act).error).toMatchObject({ status: 403, code: "insufficient_aal" });
  });
});

test("Uses a code up once when several send it at once", async () => {
  const { email, codes } = await begin();
  const code = must(await codes.generate()).codes[3] ?? "";
  const clients = await Promise.all(Array.from({ length: 6 }, () => signIn(email)));
  const answers = await Promise.all(clients.map(({ auth }) => auth.mfa.recoveryCodes.verify({ code })));
  expect(answers.filter(({ error }) => error === null)).toHaveLength(1);
});

test("Locks codes after ten wrong ones, until new ones are made", async () => {
  const { email, codes } = await begin();
  const right = must(await codes.generate()).codes[0] ?? "";
  const { recoveryCodes } = (await signIn(email)).auth.mfa;
  const tries = await Promise.all(
    Array.from({ length: 12 }, () => recoveryCodes.verify({ code: "0000-0000-0000-0000" })),
  );
  expect(tries.filter(({ error }) => error?.code === "mfa_verification_failed")).toHaveLength(10);
  expect((await recoveryCodes.verify({ code: right })).error).toMatchObject({
    status: 429,
    code: "mfa_recovery_codes_locked",
  });
  const fresh = must(await codes.regenerate()).codes[0] ?? "";
  must(await recoveryCodes.verify({ code: fresh }));
});

test("Refuses another user's code", async () => {
  const [mine, theirs] = await Promise.all([begin(), begin()]);
  const code = must(await theirs.codes.generate()).codes[0] ?? "";
  must(await mine.codes.generate());
  const answer = await (await signIn(mine.email)).auth.mfa.recoveryCodes.verify({ code });
  expect(answer.error).toMatchObject({ status: 422, code: "mfa_verification_failed" });
});

test("Audits changes of second factors in the user's workspaces, without codes", async () => {
  const { email, codes } = await begin();
  const code = must(await codes.generate()).codes[0] ?? "";
  must(await (await signIn(email)).auth.mfa.recoveryCodes.verify({ code }));
  const { Client } = await import("pg");
  const admin = new Client({ connectionString: server.database.adminUrl });
  await admin.connect();
  const { rows } = await admin.query(
    "select action, address, before, after from public.audit_log where actor_email = $1 order by at",
    [email],
  );
  await admin.end();
  expect(rows.map(({ action }) => action)).toEqual([
    "authenticator.created",
    "recovery_code.created",
    "recovery_code.used",
  ]);
  expect(rows).toMatchObject([{ address: "127.0.0.1", before: null, after: null }, {}, {}]);
});
