import { describe, expect, test } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";
import { codeOf, earlyInStep, enrolAuthenticator } from "@/tests/helpers/authenticator";

const server = withAuthServer();

const signUp = async () => {
  const email = someEmail();
  const client = makeClient(server.url);
  const { user } = must(await client.auth.signUp({ email, password: somePassword }));
  return { client, email, id: user?.id ?? "" };
};
const signIn = async (email: string) => {
  const client = makeClient(server.url);
  must(await client.auth.signInWithPassword({ email, password: somePassword }));
  return client;
};
const levelsOf = async ({ auth }: ReturnType<typeof makeClient>) => {
  const { currentLevel, nextLevel } = must(await auth.mfa.getAuthenticatorAssuranceLevel());
  return `${currentLevel} of ${nextLevel}`;
};
const refreshTokenOf = async ({ auth }: ReturnType<typeof makeClient>) =>
  must(await auth.getSession()).session?.refresh_token ?? "";

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
    const raised = must(
      await client.auth.mfa.verify({
        factorId: factor.id,
        challengeId: challenge.id,
        code: codeOf(factor.totp.secret),
      }),
    );
    expect(raised.user).toMatchObject({ id, factors: [{ friendly_name: "Phone", status: "verified" }] });
    expect(await levelsOf(client)).toBe("aal2 of aal2");
    const claims = must(await client.auth.getClaims())?.claims;
    expect(claims).toMatchObject({ aal: "aal2", amr: [{ method: "totp" }, { method: "password" }] });
    must(await client.auth.refreshSession());
    expect(await levelsOf(client)).toBe("aal2 of aal2");
    expect(must(await client.auth.mfa.listFactors()).totp).toHaveLength(1);
  });

  test("Signs in at the first level and is raised by the code", async () => {
    const { client, email } = await signUp();
    const { factorId, secret } = await enrolAuthenticator(client);
    const later = await signIn(email);
    expect(await levelsOf(later)).toBe("aal1 of aal2");
    must(await later.auth.mfa.challengeAndVerify({ factorId, code: codeOf(secret) }));
    expect(await levelsOf(later)).toBe("aal2 of aal2");
  });

  test("Removes an authenticator, and the second level with it", async () => {
    const { client } = await signUp();
    const { factorId } = await enrolAuthenticator(client);
    expect(must(await client.auth.mfa.unenroll({ factorId }))).toEqual({ id: factorId });
    must(await client.auth.refreshSession());
    expect(await levelsOf(client)).toBe("aal1 of aal1");
    expect(must(await client.auth.mfa.listFactors()).all).toEqual([]);
  });

  test.each([
    ["phone", 422, "mfa_phone_enroll_not_enabled"],
    ["webauthn", 422, "mfa_webauthn_enroll_not_enabled"],
    ["pigeon", 400, "validation_failed"],
  ])("Is refused a factor of the type %s", async (factorType, status, code) => {
    const { client } = await signUp();
    const refused = await client.auth.mfa.enroll({ factorType, phone: "+15550100" } as never);
    expect(refused.error).toMatchObject({ status, code });
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
    const { client, email } = await signUp();
    const { factorId, secret } = await enrolAuthenticator(client);
    const other = await signIn(email);
    const verify = (code: string) => other.auth.mfa.challengeAndVerify({ factorId, code });
    const wrong = { status: 422, code: "mfa_verification_failed" };
    expect((await verify(codeOf(secret, -1))).error).toMatchObject(wrong);
    must(await verify(codeOf(secret)));
    expect((await verify(codeOf(secret))).error).toMatchObject(wrong);
    expect((await verify(codeOf(secret, -1))).error).toMatchObject(wrong);
  });

  test("Raises one of several sessions that send it at once", async () => {
    const { client, email } = await signUp();
    const { factorId, secret } = await enrolAuthenticator(client);
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

  test.each([-3, -2, 2, 3])("Of %i steps from now is refused", async (offset) => {
    const { client } = await signUp();
    await earlyInStep();
    const { id: factorId, totp } = must(await client.auth.mfa.enroll({ factorType: "totp" }));
    const answer = await client.auth.mfa.challengeAndVerify({ factorId, code: codeOf(totp.secret, offset) });
    expect(answer.error).toMatchObject({ status: 422, code: "mfa_verification_failed" });
  });

  test("Can be tried ten times, then by no session of the user", async () => {
    const { client, email } = await signUp();
    const { factorId, secret } = await enrolAuthenticator(client);
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
    const { client, email } = await signUp();
    const { factorId, secret } = await enrolAuthenticator(client);
    const { auth } = await signIn(email);
    const old = must(await auth.mfa.challenge({ factorId }));
    await sql("update auth.mfa_challenges set created_at = created_at - interval '6 minutes' where id = $1", [
      old.id,
    ]);
    const late = await auth.mfa.verify({ factorId, challengeId: old.id, code: codeOf(secret) });
    expect(late.error).toMatchObject({ status: 422, code: "mfa_challenge_expired" });
    const elsewhere = must(await auth.mfa.challenge({ factorId }));
    await sql("update auth.mfa_challenges set ip_address = '192.0.2.1' where id = $1", [elsewhere.id]);
    const moved = await auth.mfa.verify({ factorId, challengeId: elsewhere.id, code: codeOf(secret) });
    expect(moved.error).toMatchObject({ status: 422, code: "mfa_ip_address_mismatch" });
    const good = must(await auth.mfa.challenge({ factorId }));
    must(await auth.mfa.verify({ factorId, challengeId: good.id, code: codeOf(secret) }));
    const again = await auth.mfa.verify({ factorId, challengeId: good.id, code: codeOf(secret, 1) });
    expect(again.error).toMatchObject({ status: 422, code: "mfa_ip_address_mismatch" });
  });
});

describe("A first-level session of a user with an authenticator", () => {
  const begin = async () => {
    const { client, email, id } = await signUp();
    const { factorId, secret } = await enrolAuthenticator(client);
    return { raised: client, low: await signIn(email), email, id, factorId, secret };
  };

  test("Changes neither password nor address, and enrols or removes nothing", async () => {
    const { low, factorId } = await begin();
    const { auth } = low;
    const insufficient = { code: "insufficient_aal" };
    expect((await auth.updateUser({ password: "another good one" })).error).toMatchObject({
      status: 401,
      ...insufficient,
    });
    expect((await auth.updateUser({ email: someEmail() })).error).toMatchObject({
      status: 401,
      ...insufficient,
    });
    expect((await auth.mfa.enroll({ factorType: "totp", friendlyName: "Mine" })).error).toMatchObject({
      status: 403,
      ...insufficient,
    });
    expect((await auth.mfa.unenroll({ factorId })).error).toMatchObject({ status: 422, ...insufficient });
    must(await auth.updateUser({ data: { theme: "dark" } }));
  });

  test("Ends when another is raised, and its refresh token never gives the second level", async () => {
    const { low, email, factorId, secret } = await begin();
    const raised = await signIn(email);
    const before = await refreshTokenOf(raised);
    must(await raised.auth.mfa.challengeAndVerify({ factorId, code: codeOf(secret) }));
    expect((await low.auth.refreshSession()).error).toMatchObject({ code: "refresh_token_not_found" });
    const thief = makeClient(server.url).auth;
    expect((await thief.refreshSession({ refresh_token: before })).error).toMatchObject({
      code: "refresh_token_not_found",
    });
    must(await raised.auth.refreshSession());
  });

  test("Of another user cannot use the factor", async () => {
    const { factorId, secret } = await begin();
    const { client: stranger } = await signUp();
    const missing = { status: 404, code: "mfa_factor_not_found" };
    expect((await stranger.auth.mfa.challenge({ factorId })).error).toMatchObject(missing);
    expect((await stranger.auth.mfa.unenroll({ factorId })).error).toMatchObject(missing);
    const own = must(await stranger.auth.mfa.enroll({ factorType: "totp" }));
    const { id: challengeId } = must(await stranger.auth.mfa.challenge({ factorId: own.id }));
    const answer = await stranger.auth.mfa.verify({ factorId, challengeId, code: codeOf(secret) });
    expect(answer.error).toMatchObject({ status: 422, code: "mfa_factor_not_found" });
  });
});

test("Hides every secret in tables from the service's login", async () => {
  const { client } = await signUp();
  await enrolAuthenticator(client);
  const { database } = await import("@/lib/db/pool");
  for (const table of [
    "auth.mfa_factors",
    "auth.mfa_challenges",
    "local_auth.taken_steps",
    "local_auth.recovery_codes",
  ])
    await expect(database("writing").query(`select * from ${table}`)).rejects.toThrow("permission denied");
});

async function sql(statement: string, values: unknown[]): Promise<void> {
  const { Client } = await import("pg");
  const admin = new Client({ connectionString: server.database.superuserUrl });
  await admin.connect();
  try {
    await admin.query(statement, values);
  } finally {
    await admin.end();
  }
}
