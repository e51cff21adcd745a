import { describe, expect, test } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";
import { codeOf, earlyInStep, enrolAuthenticator } from "@/tests/helpers/authenticator";
import { latestMail } from "@/tests/helpers/outbox";

const server = withAuthServer();

const newClient = () => makeClient(server.url, server.key, { experimental: { recoveryCodes: true } });
const signUp = async () => {
  const [email, client] = [someEmail(), newClient()];
  const { user } = must(await client.auth.signUp({ email, password: somePassword }));
  return { client, email, id: user?.id ?? "" };
};
const signIn = async (email: string) => {
  const client = newClient();
  must(await client.auth.signInWithPassword({ email, password: somePassword }));
  return client;
};
/** A new user with an authenticator, and their session at the second level. */
const begin = async () => {
  const { client, email, id } = await signUp();
  const { factorId, secret } = await enrolAuthenticator(client);
  return { client, email, id, factorId, secret, codes: client.auth.mfa.recoveryCodes };
};
const levelsOf = async ({ auth }: ReturnType<typeof makeClient>) => {
  const { currentLevel, nextLevel } = must(await auth.mfa.getAuthenticatorAssuranceLevel());
  return `${currentLevel} of ${nextLevel}`;
};
const wrongCode = { status: 422, code: "mfa_verification_failed" };

describe("The unmodified supabase-js client", () => {
  test("Enrols an authenticator and raises its session", async () => {
    const { client, id } = await signUp();
    await earlyInStep();
    const factor = must(
      await client.auth.mfa.enroll({ factorType: "totp", friendlyName: "Phone", issuer: "Acme" }),
    );
    expect(factor).toMatchObject({ type: "totp", friendly_name: "Phone" });
    expect(factor.totp.qr_code).toMatch(/^data:image\/svg\+xml;utf-8,<svg [^#]*<\/svg>$/);
    const uri = new URL(factor.totp.uri);
    expect(uri.searchParams.get("secret")).toBe(factor.totp.secret);
    expect(uri.searchParams.get("issuer")).toBe("Acme");
    expect(await levelsOf(client)).toBe("aal1 of aal1");

    const challenge = must(await client.auth.mfa.challenge({ factorId: factor.id }));
    expect(challenge).toMatchObject({ type: "totp" });
    expect(challenge.expires_at).toBeGreaterThan(Date.now() / 1000 + 200);
    const code = codeOf(factor.totp.secret);
    const raised = must(
      await client.auth.mfa.verify({ factorId: factor.id, challengeId: challenge.id, code }),
    );
    expect(raised.user).toMatchObject({ id, factors: [{ friendly_name: "Phone", status: "verified" }] });
    const claims = must(await client.auth.getClaims())?.claims;
    expect(claims).toMatchObject({ aal: "aal2", amr: [{ method: "totp" }, { method: "password" }] });
    must(await client.auth.refreshSession());
    expect(await levelsOf(client)).toBe("aal2 of aal2");
    expect(must(await client.auth.mfa.listFactors()).totp).toHaveLength(1);
  });

  test("Signs in at the first level, is raised by the code, and removes the authenticator", async () => {
    const { email, factorId, secret } = await begin();
    const later = await signIn(email);
    expect(await levelsOf(later)).toBe("aal1 of aal2");
    must(await later.auth.mfa.challengeAndVerify({ factorId, code: codeOf(secret) }));
    expect(await levelsOf(later)).toBe("aal2 of aal2");
    expect(must(await later.auth.mfa.unenroll({ factorId }))).toEqual({ id: factorId });
    must(await later.auth.refreshSession());
    expect(await levelsOf(later)).toBe("aal1 of aal1");
    expect(must(await later.auth.mfa.listFactors()).all).toEqual([]);
  });

  test("Is refused two factors of one name, and an eleventh", async () => {
    const { client } = await signUp();
    const enrol = (friendlyName: string) => client.auth.mfa.enroll({ factorType: "totp", friendlyName });
    for (let number = 1; number <= 10; number += 1) must(await enrol(`Phone ${number}`));
    expect((await enrol("Phone 1")).error).toMatchObject({ status: 422, code: "mfa_factor_name_conflict" });
    expect((await enrol("Phone 11")).error).toMatchObject({
      status: 422,
      code: "too_many_enrolled_mfa_factors",
    });
  });
});

describe("A code", () => {
  test("Counts once, and earlier ones no longer", async () => {
    const { email, factorId, secret } = await begin();
    const other = await signIn(email);
    const verify = (code: string) => other.auth.mfa.challengeAndVerify({ factorId, code });
    expect((await verify(codeOf(secret, -1))).error).toMatchObject(wrongCode);
    must(await verify(codeOf(secret)));
    expect((await verify(codeOf(secret))).error).toMatchObject(wrongCode);
    expect((await verify(codeOf(secret, -1))).error).toMatchObject(wrongCode);
  });

  test("Raises one of several sessions that send it at once", async () => {
    const { email, factorId, secret } = await begin();
    const others = await Promise.all(Array.from({ length: 6 }, () => signIn(email)));
    const challenges = await Promise.all(
      others.map(async ({ auth }) => must(await auth.mfa.challenge({ factorId })).id),
    );
    const code = codeOf(secret);
    const answers = await Promise.all(
      others.map(({ auth }, index) =>
        auth.mfa.verify({ factorId, challengeId: challenges[index] ?? "", code }),
      ),
    );
    expect(answers.filter(({ error }) => error === null)).toHaveLength(1);
  });

  test("Is refused when it is two steps or more from now", async () => {
    const { client } = await signUp();
    await earlyInStep();
    const { id: factorId, totp } = must(await client.auth.mfa.enroll({ factorType: "totp" }));
    for (const offset of [-3, -2, 2, 3]) {
      const code = codeOf(totp.secret, offset);
      const answer = await client.auth.mfa.challengeAndVerify({ factorId, code });
      expect(answer.error, `${offset}`).toMatchObject(wrongCode);
    }
  });

  test("Can be tried ten times, then by no session of the user", async () => {
    const { email, factorId, secret } = await begin();
    const other = await signIn(email);
    const tries = await Promise.all(
      Array.from({ length: 14 }, () => other.auth.mfa.challengeAndVerify({ factorId, code: "000000" })),
    );
    const codes = tries.map(({ error }) => error?.code);
    expect(codes.filter((code) => code === "mfa_verification_failed")).toHaveLength(10);
    expect(codes.filter((code) => code === "over_request_rate_limit")).toHaveLength(4);
    const right = await (await signIn(email)).auth.mfa.challengeAndVerify({ factorId, code: codeOf(secret) });
    expect(right.error).toMatchObject({ status: 429, code: "over_request_rate_limit" });
  });

  test("Answers a challenge once, within five minutes, from the address that asked", async () => {
    const { email, factorId, secret } = await begin();
    const { auth } = await signIn(email);
    const refused = { status: 422, code: "mfa_challenge_expired" };
    const code = codeOf(secret);
    for (const change of ["created_at = created_at - interval '6 minutes'", "ip_address = '192.0.2.1'"]) {
      const { id } = must(await auth.mfa.challenge({ factorId }));
      await server.sql.query(`update auth.mfa_challenges set ${change} where id = $1`, [id]);
      expect((await auth.mfa.verify({ factorId, challengeId: id, code })).error).toMatchObject(refused);
    }
    const { id: challengeId } = must(await auth.mfa.challenge({ factorId }));
    must(await auth.mfa.verify({ factorId, challengeId, code }));
    const again = await auth.mfa.verify({ factorId, challengeId, code: codeOf(secret, 1) });
    expect(again.error).toMatchObject(refused);
  });
});

describe("A first-level session of a user with an authenticator", () => {
  test("Changes neither password, address, authenticators nor recovery codes", async () => {
    const { email, factorId, codes } = await begin();
    must(await codes.generate());
    const { auth } = await signIn(email);
    const { mfa } = auth;
    for (const refused of [
      await auth.updateUser({ password: "another good one", current_password: somePassword }),
      await auth.updateUser({ email: someEmail() }),
      await mfa.enroll({ factorType: "totp", friendlyName: "Mine" }),
      await mfa.unenroll({ factorId }),
      await mfa.recoveryCodes.generate(),
      await mfa.recoveryCodes.regenerate(),
      await mfa.recoveryCodes.unenroll(),
    ])
      expect(refused.error).toMatchObject({ status: 403, code: "insufficient_aal" });
    must(await auth.updateUser({ data: { theme: "dark" } }));
  });

  test("Ends when another is raised, and its refresh token never gives the second level", async () => {
    const { email, factorId, secret } = await begin();
    const [low, raised] = [await signIn(email), await signIn(email)];
    const refresh_token = must(await raised.auth.getSession()).session?.refresh_token ?? "";
    must(await raised.auth.mfa.challengeAndVerify({ factorId, code: codeOf(secret) }));
    const over = { code: "refresh_token_not_found" };
    expect((await low.auth.refreshSession()).error).toMatchObject(over);
    expect((await newClient().auth.refreshSession({ refresh_token })).error).toMatchObject(over);
    must(await raised.auth.refreshSession());
  });

  test("Of another user cannot use the factor", async () => {
    const { factorId, secret } = await begin();
    const { mfa } = (await signUp()).client.auth;
    const missing = { status: 404, code: "mfa_factor_not_found" };
    expect((await mfa.challenge({ factorId })).error).toMatchObject(missing);
    expect((await mfa.unenroll({ factorId })).error).toMatchObject(missing);
    const own = must(await mfa.enroll({ factorType: "totp" }));
    const { id: challengeId } = must(await mfa.challenge({ factorId: own.id }));
    const answer = await mfa.verify({ factorId, challengeId, code: codeOf(secret) });
    expect(answer.error).toMatchObject(missing);
  });
});

describe("Recovery codes", () => {
  test("Are ten, each of which raises one session once, in any notation", async () => {
    const { email, codes } = await begin();
    const made = must(await codes.generate());
    expect(made).toMatchObject({ type: "recovery_code", total: 10 });
    expect(new Set(made.codes).size).toBe(10);
    expect(must(await codes.getStatus())).toMatchObject({ id: made.id, total: 10, remaining: 10 });

    const code = made.codes[0] ?? "";
    const typed = ` ${(code.match(/.{4}/g) ?? []).join("-").toUpperCase().replaceAll("0", "o").replaceAll("1", "l")}`;
    const later = await signIn(email);
    const raised = must(await later.auth.mfa.recoveryCodes.verify({ code: typed }));
    expect(raised.user.factors?.map(({ factor_type }) => factor_type)).toEqual(["totp", "recovery_code"]);
    const claims = must(await later.auth.getClaims())?.claims;
    expect(claims).toMatchObject({
      aal: "aal2",
      amr: [{ method: "mfa/recovery_code" }, { method: "password" }],
    });
    expect(must(await later.auth.mfa.recoveryCodes.getStatus()).remaining).toBe(9);

    const again = await (await signIn(email)).auth.mfa.recoveryCodes.verify({ code });
    expect(again.error).toMatchObject(wrongCode);
    const mail = await latestMail(email);
    expect(mail.subject).toBe("A recovery code was used to sign in to your account");
    expect(mail.body).toContain("9 of your codes are left.");
  });

  test("Are replaced, after which the old ones and those of other users are refused", async () => {
    const [{ email, codes }, other] = [await begin(), await begin()];
    const first = must(await codes.generate());
    expect((await codes.generate()).error).toMatchObject({ status: 422, code: "mfa_verified_factor_exists" });
    const second = must(await codes.regenerate());
    expect(second.id).toBe(first.id);
    const theirs = must(await other.codes.generate());
    const { recoveryCodes } = (await signIn(email)).auth.mfa;
    for (const code of [first.codes[0] ?? "", theirs.codes[0] ?? ""])
      expect((await recoveryCodes.verify({ code })).error).toMatchObject(wrongCode);
    must(await recoveryCodes.verify({ code: second.codes[0] ?? "" }));
  });

  test("Are deleted before the last authenticator, and not as one", async () => {
    const { client, codes, factorId } = await begin();
    const missing = { status: 404, code: "mfa_factor_not_found" };
    expect((await codes.getStatus()).error).toMatchObject(missing);
    const { id } = must(await codes.generate());
    expect((await client.auth.mfa.unenroll({ factorId: id })).error).toMatchObject(missing);
    const sole = { status: 422, code: "mfa_recovery_codes_sole_factor" };
    expect((await client.auth.mfa.unenroll({ factorId })).error).toMatchObject(sole);
    expect(must(await codes.unenroll())).toEqual({ id });
    must(await client.auth.mfa.unenroll({ factorId }));
    must(await client.auth.refreshSession());
    expect((await codes.generate()).error).toMatchObject({ code: "insufficient_aal" });
  });

  test("Are used up once when several send one at once", async () => {
    const { email, codes } = await begin();
    const code = must(await codes.generate()).codes[3] ?? "";
    const clients = await Promise.all(Array.from({ length: 6 }, () => signIn(email)));
    const answers = await Promise.all(clients.map(({ auth }) => auth.mfa.recoveryCodes.verify({ code })));
    expect(answers.filter(({ error }) => error === null)).toHaveLength(1);
  });

  test("Are locked after ten wrong ones, until new ones are made", async () => {
    const { email, codes } = await begin();
    const right = must(await codes.generate()).codes[0] ?? "";
    const { recoveryCodes } = (await signIn(email)).auth.mfa;
    const tries = await Promise.all(
      Array.from({ length: 12 }, () => recoveryCodes.verify({ code: "0000-0000-0000-0000" })),
    );
    expect(tries.filter(({ error }) => error?.code === "mfa_verification_failed")).toHaveLength(10);
    const locked = { status: 429, code: "mfa_recovery_codes_locked" };
    expect((await recoveryCodes.verify({ code: right })).error).toMatchObject(locked);
    const fresh = must(await codes.regenerate()).codes[0] ?? "";
    must(await recoveryCodes.verify({ code: fresh }));
  });
});

test("Audits changes of second factors in the user's workspaces, without codes", async () => {
  const { email, codes } = await begin();
  const code = must(await codes.generate()).codes[0] ?? "";
  must(await (await signIn(email)).auth.mfa.recoveryCodes.verify({ code }));
  const { rows } = await server.sql.query(
    "select action, address, before, after from public.audit_log where actor_email = $1 order by at",
    [email],
  );
  const event = { address: "127.0.0.1", before: null, after: null };
  expect(rows).toEqual(
    ["authenticator.created", "recovery_code.created", "recovery_code.used"].map((action) => ({
      action,
      ...event,
    })),
  );
});
