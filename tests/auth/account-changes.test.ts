import { describe, expect, test } from "vitest";
import { readOutbox } from "@/lib/access/sign-in/local/outbox";
import { must, signInAt, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";
import { latestMail, openLink, tokenOf } from "@/tests/helpers/outbox";

const newPassword = "another good one";
const server = withAuthServer();

const { client, signUp, signsInWith } = signInAt(server);

/** Makes every mail sent and every session older. */
const age = (interval: string) =>
  server.sql.query(
    `update local_auth.mail_tokens set created_at = created_at - interval '${interval}';
     update auth.mfa_amr_claims set created_at = created_at - interval '${interval}'`,
  );

describe("A new password", () => {
  test("Is refused to a session alone, and with a wrong present password", async () => {
    const { email, auth } = await signUp();
    const refusal = async (proof: object) =>
      (await auth.updateUser({ password: newPassword, ...proof })).error?.code;
    expect(await refusal({})).toBe("reauthentication_needed");
    expect(await refusal({ current_password: "a wrong guess" })).toBe("current_password_invalid");
    expect(await signsInWith(email, somePassword)).toBe("signed in");
  });

  test("Is set with the code of a reauthentication, once", async () => {
    const { email, auth } = await signUp();
    expect((await auth.reauthenticate()).error).toBeNull();
    const { code, link } = await latestMail(email);
    expect(link).toBeNull();
    const wrong = code === "000000" ? "000001" : "000000";
    expect((await auth.updateUser({ password: newPassword, nonce: wrong })).error).toMatchObject({
      status: 422,
      code: "reauthentication_not_valid",
    });
    // A change refused for another reason does not use the code up.
    expect((await auth.updateUser({ password: somePassword, nonce: code ?? "" })).error?.code).toBe(
      "same_password",
    );
    must(await auth.updateUser({ password: newPassword, nonce: code ?? "" }));
    expect((await auth.updateUser({ password: somePassword, nonce: code ?? "" })).error?.code).toBe(
      "reauthentication_not_valid",
    );
    expect(await signsInWith(email, newPassword)).toBe("signed in");
  });

  test("Is refused with another user's, another kind's, an old or a guessed code", async () => {
    const [{ auth, email }, other] = [await signUp(), await signUp()];
    const refusal = async (nonce: string | null) =>
      (await auth.updateUser({ password: newPassword, nonce: nonce ?? "" })).error?.code;
    must(await other.auth.reauthenticate());
    expect(await refusal((await latestMail(other.email)).code)).toBe("reauthentication_not_valid");
    must(await client().signInWithOtp({ email }));
    expect(await refusal((await latestMail(email)).code)).toBe("reauthentication_not_valid");
    must(await auth.reauthenticate());
    await age("61 minutes");
    expect(await refusal((await latestMail(email)).code)).toBe("reauthentication_not_valid");
    must(await auth.reauthenticate());
    const { code } = await latestMail(email);
    for (let guess = 0; guess < 5; guess += 1) await refusal(code?.startsWith("0") ? "999999" : "000000");
    expect(await refusal(code)).toBe("reauthentication_not_valid");
    expect(await signsInWith(email, somePassword)).toBe("signed in");
  });

  test("Is set by a session that began with a mail within the hour", async () => {
    const { email } = await signUp();
    const begin = async () => {
      const auth = client();
      must(await auth.resetPasswordForEmail(email));
      const token_hash = tokenOf((await latestMail(email)).link);
      must(await auth.verifyOtp({ token_hash, type: "recovery" }));
      return auth;
    };
    must(await (await begin()).updateUser({ password: newPassword }));
    const late = await begin();
    await age("61 minutes");
    expect((await late.updateUser({ password: somePassword })).error?.code).toBe("reauthentication_needed");
    expect(await signsInWith(email, newPassword)).toBe("signed in");
  });

  test("Requires a mail for an account that has none yet", async () => {
    const [email, auth] = [someEmail("new"), client()];
    must(await auth.signInWithOtp({ email }));
    must(await auth.verifyOtp({ email, token: (await latestMail(email)).code ?? "", type: "email" }));
    await age("61 minutes");
    const empty = { password: newPassword, current_password: "anything" };
    expect((await auth.updateUser(empty)).error?.code).toBe("current_password_invalid");
    expect((await auth.updateUser({ password: newPassword })).error?.code).toBe("reauthentication_needed");
    must(await auth.reauthenticate());
    must(await auth.updateUser({ password: newPassword, nonce: (await latestMail(email)).code ?? "" }));
    expect(await signsInWith(email, newPassword)).toBe("signed in");
  });

  test("Ends earlier links and a pending change of address", async () => {
    const { email, auth } = await signUp();
    must(await client().resetPasswordForEmail(email));
    must(await auth.updateUser({ email: someEmail("thief") }));
    must(await auth.updateUser({ password: newPassword, current_password: somePassword }));
    const { data } = await auth.getUser();
    expect(data.user?.new_email).toBeUndefined();
    const mails = (await readOutbox())?.filter(({ recipient }) => recipient === email) ?? [];
    expect(mails).toHaveLength(2);
    for (const { link } of mails) {
      for (const type of ["recovery", "email_change"] as const)
        expect((await client().verifyOtp({ token_hash: tokenOf(link), type })).error?.code).toBe(
          "otp_expired",
        );
    }
  });

  test("Counts wrong present passwords like wrong sign-ins", async () => {
    const { email, auth } = await signUp();
    const guess = async (current_password: string) =>
      (await auth.updateUser({ password: newPassword, current_password })).error?.code;
    for (let attempt = 0; attempt < 10; attempt += 1)
      expect(await guess("a wrong guess")).toBe("current_password_invalid");
    expect(await guess(somePassword)).toBe("over_request_rate_limit");
    expect(await signsInWith(email, somePassword)).toBe("over_request_rate_limit");
  });
});

describe("A new address", () => {
  const confirm = (link: string | null) =>
    client().verifyOtp({ token_hash: tokenOf(link), type: "email_change" });

  test.each([
    ["the present one first", false],
    ["the new one first", true],
  ])("Takes effect once both addresses have confirmed it, %s", async (_, newFirst) => {
    const { email, auth, id } = await signUp();
    const wanted = someEmail("wanted");
    const asked = must(await auth.updateUser({ email: wanted })).user;
    expect(asked).toMatchObject({ email, new_email: wanted });
    const mails = [await latestMail(email), await latestMail(wanted)];
    const [first, second] = newFirst ? mails.reverse() : mails;
    must(await confirm(first?.link ?? null));
    expect(must(await auth.getUser()).user).toMatchObject({ email, new_email: wanted });
    // Two confirmations by one address do not count as both.
    expect((await confirm(first?.link ?? null)).error?.code).toBe("otp_expired");
    const { session, user } = must(await confirm(second?.link ?? null));
    expect([user?.id, user?.email, session?.user.id]).toEqual([id, wanted, id]);
    expect(user?.new_email).toBeUndefined();
    expect(user?.identities?.[0]?.identity_data).toMatchObject({ email: wanted, email_verified: true });
    expect(await signsInWith(wanted, somePassword)).toBe("signed in");
    expect(await signsInWith(email, somePassword)).toBe("invalid_credentials");
  });

  test("Can be confirmed with the six digits of both mails", async () => {
    const { email, auth } = await signUp();
    const wanted = someEmail("wanted");
    must(await auth.updateUser({ email: wanted }));
    const enter = async (address: string, token: string | null) =>
      client().verifyOtp({ email: address, token: token ?? "", type: "email_change" });
    const [current, next] = [(await latestMail(email)).code, (await latestMail(wanted)).code];
    expect((await enter(email, next)).error?.code).toBe("otp_expired");
    must(await enter(wanted, next));
    must(await enter(email, current));
    expect(must(await auth.getUser()).user.email).toBe(wanted);
  });

  test("Is confirmed by links that say what remains, and pass a code to the client that asked", async () => {
    const { email, auth } = await signUp({ flowType: "pkce" });
    const wanted = someEmail("wanted");
    const emailRedirectTo = `${server.url}/callback?next=/x`;
    must(await auth.updateUser({ email: wanted }, { emailRedirectTo }));
    const first = await openLink(wanted);
    expect(first.pathname).toBe("/callback");
    expect(first.searchParams.get("message")).toMatch(/the mail to the other address/);
    const code = (await openLink(email)).searchParams.get("code") ?? "";
    const exchanged = must(await auth.exchangeCodeForSession(code));
    expect(exchanged.user.email).toBe(wanted);
  });

  test("Is not confirmed by another kind of mail, and opens no session before both", async () => {
    const { email, auth } = await signUp();
    must(await auth.updateUser({ email: someEmail("wanted") }));
    const { link: changeLink } = await latestMail(email);
    for (const type of ["magiclink", "recovery", "email"] as const)
      expect((await client().verifyOtp({ token_hash: tokenOf(changeLink), type })).error?.code).toBe(
        "otp_expired",
      );
    must(await client().signInWithOtp({ email }));
    const { link } = await latestMail(email);
    expect((await confirm(link)).error?.code).toBe("otp_expired");
    const once = must(await confirm(changeLink));
    expect(once.session).toBeNull();
    expect(must(await auth.getUser()).user.email).toBe(email);
  });

  test("Is refused when taken, also when taken in the meantime", async () => {
    const [{ email, auth }, other] = [await signUp(), await signUp()];
    const taken = await auth.updateUser({ email: other.email, data: { theme: "dark" } });
    expect(taken.error).toMatchObject({ status: 422, code: "email_exists" });
    expect(must(await auth.getUser()).user.user_metadata).not.toHaveProperty("theme");
    const wanted = someEmail("wanted");
    must(await auth.updateUser({ email: wanted }));
    must(await client().signUp({ email: wanted, password: somePassword }));
    must(await confirm((await latestMail(email)).link));
    expect((await confirm((await latestMail(wanted)).link)).error).toMatchObject({
      status: 422,
      code: "email_exists",
    });
    expect(must(await auth.getUser()).user.email).toBe(email);
  });

  test("Accepts the mails sent last", async () => {
    const { email, auth } = await signUp();
    const wanted = someEmail("wanted");
    must(await auth.updateUser({ email: wanted }));
    const before = [(await latestMail(email)).link, (await latestMail(wanted)).link];
    expect((await auth.resend({ type: "email_change", email })).error).toBeNull();
    for (const link of before) expect((await confirm(link)).error?.code).toBe("otp_expired");
    must(await confirm((await latestMail(email)).link));
    must(await confirm((await latestMail(wanted)).link));
    expect(must(await auth.getUser()).user.email).toBe(wanted);
  });

  test("Ends the links sent to the old address", async () => {
    const { email, auth } = await signUp();
    const wanted = someEmail("wanted");
    must(await auth.updateUser({ email: wanted }));
    const current = (await latestMail(email)).link;
    must(await client().signInWithOtp({ email }));
    const signIn = (await latestMail(email)).link;
    must(await confirm(current));
    must(await confirm((await latestMail(wanted)).link));
    const late = await client().verifyOtp({ token_hash: tokenOf(signIn), type: "magiclink" });
    expect(late.error?.code).toBe("otp_expired");
  });
});

describe("A user's own data", () => {
  test("Is merged; null removes a field, and its total size is limited", async () => {
    const { auth } = await signUp();
    must(await auth.updateUser({ data: { a: 1, b: { kept: null } } }));
    const changed = must(await auth.updateUser({ data: { a: null, c: 3 } })).user.user_metadata;
    expect(changed).toEqual({ b: { kept: null }, c: 3, email_verified: true });
    must(await auth.updateUser({ data: { first: "x".repeat(1900) } }));
    const refused = await auth.updateUser({ data: { second: "x".repeat(1900) } });
    expect(refused.error).toMatchObject({ status: 400, code: "validation_failed" });
    expect(refused.error?.message).toMatch(/^data: .*3072 bytes/);
    const kept = must(await auth.getUser()).user.user_metadata;
    expect([kept.first.length, "second" in kept]).toEqual([1900, false]);
    const { session } = (await auth.refreshSession()).data;
    expect(session?.access_token.length).toBeLessThan(5000);
  });

  test("Can be reduced when it was too large before", async () => {
    const { auth, id } = await signUp();
    const large = { a: "x".repeat(9000), b: "x".repeat(9000) };
    await server.sql.query("update auth.users set raw_user_meta_data = $1 where id = $2", [large, id]);
    must(await auth.updateUser({ data: { a: null } }));
    expect((await auth.updateUser({ data: { c: 1 } })).error?.code).toBe("validation_failed");
    must(await auth.updateUser({ data: { b: null, c: 1 } }));
  });
});

test("Limits the changes of one account", async () => {
  const { auth } = await signUp();
  const codes: string[] = [];
  for (let change = 0; change < 32; change += 1)
    codes.push((await auth.updateUser({ data: { change } })).error?.code ?? "changed");
  expect(codes.slice(0, 30)).toEqual(Array(30).fill("changed"));
  expect(codes.slice(30)).toEqual(["over_request_rate_limit", "over_request_rate_limit"]);
});
