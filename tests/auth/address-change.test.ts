import { describe, expect, test } from "vitest";
import { must, signInAt, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";
import { latestMail, openLink, tokenOf } from "@/tests/helpers/outbox";

const server = withAuthServer();

const { client, signUp, signsInWith } = signInAt(server);

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
    expect(asked.email_change_sent_at).toMatch(/^20/);
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
    expect(first.searchParams.get("message")).toMatch(/confirm link sent to the other email/);
    const code = (await openLink(email)).searchParams.get("code") ?? "";
    const exchanged = must(await auth.exchangeCodeForSession(code));
    expect(exchanged.user.email).toBe(wanted);
  });

  test("Is not confirmed by another kind of mail, and opens no session before both", async () => {
    const { email, auth } = await signUp();
    must(await auth.updateUser({ email: someEmail("wanted") }));
    const { link: changeLink } = await latestMail(email);
    for (const type of ["magiclink", "recovery", "email", "signup", "invite"] as const)
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
