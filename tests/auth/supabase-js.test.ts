import { createServerClient } from "@supabase/ssr";
import { describe, expect, test } from "vitest";
import {
  makeClient,
  must,
  realtime,
  someEmail,
  somePassword,
  withAuthProject,
} from "@/tests/helpers/auth-server";
import { latestMail, openLink, tokenOf } from "@/tests/helpers/outbox";

const project = withAuthProject();
const { isHosted } = project;

const newAuth = (options = {}) => makeClient(project.url, project.key, options).auth;
const signUp = async (options = {}) => {
  const [email, auth] = [someEmail(), newAuth(options)];
  const data = { display_name: "Ada Lovelace" };
  const { session, user } = must(await auth.signUp({ email, password: somePassword, options: { data } }));
  if (!session || !user) throw new Error("Sign-up gave no session.");
  return { auth, email, session, user };
};
const signIn = async (email: string, password = somePassword) => {
  const auth = newAuth();
  must(await auth.signInWithPassword({ email, password }));
  return auth;
};
const isIn = async (auth: ReturnType<typeof newAuth>) => (await auth.refreshSession()).error === null;

/** A browser's cookies, and the unmodified server client of each request that comes with them. */
function makeBrowser() {
  const jar = new Map<string, string>();
  const request = () =>
    createServerClient(project.url, project.key, {
      realtime,
      cookies: {
        getAll: () => [...jar].map(([name, value]) => ({ name, value })),
        setAll: (cookies) => {
          for (const { name, value, options } of cookies)
            if (value === "" || options.maxAge === 0) jar.delete(name);
            else jar.set(name, value);
        },
      },
    }).auth;
  return { jar, request };
}

describe("The unmodified supabase-js client", () => {
  test("Signs up, and in with the address in any case", async () => {
    const { session, user, email } = await signUp();
    expect(user).toMatchObject({ email, aud: "authenticated", role: "authenticated" });
    expect(user.user_metadata).toMatchObject({ display_name: "Ada Lovelace", email_verified: true });
    expect(user.identities?.[0]).toMatchObject({ provider: "email", user_id: user.id });
    expect(session).toMatchObject({ expires_in: 3600, token_type: "bearer" });
    expect(must(await (await signIn(email.toUpperCase())).getUser()).user.id).toBe(user.id);
  });

  test("Verifies its claims against the keys of their issuer", async () => {
    const { auth, user, email } = await signUp();
    const { claims } = must(await auth.getClaims()) ?? {};
    expect(claims).toMatchObject({ sub: user.id, email, role: "authenticated", aal: "aal1" });
    expect(claims?.amr).toMatchObject([{ method: "password" }]);
    const jwks = await (
      await fetch(`${claims?.iss}/.well-known/jwks.json`, { headers: { apikey: project.key } })
    ).json();
    expect(jwks.keys.every((jwk: object) => !("d" in jwk))).toBe(true);
  });

  test("Changes the user's data and password, which ends every other session", async () => {
    const { auth, email } = await signUp();
    const others = await Promise.all([signIn(email), signIn(email)]);
    const password = "another good one";
    const data = { theme: "dark" };
    const changed = must(await auth.updateUser({ password, current_password: somePassword, data }));
    expect(changed.user?.user_metadata).toMatchObject({ display_name: "Ada Lovelace", theme: "dark" });
    for (const other of others)
      expect((await other.refreshSession()).error).toMatchObject({ code: "refresh_token_not_found" });
    expect(await isIn(auth)).toBe(true);
    const refused = await newAuth().signInWithPassword({ email, password: somePassword });
    expect(refused.error).toMatchObject({ status: 400, code: "invalid_credentials" });
    await signIn(email, password);
  });

  test("Signs out here, elsewhere or everywhere, which ends a session for its remaining token too", async () => {
    const { auth: first, email, session } = await signUp();
    const [second, third] = [await signIn(email), await signIn(email)];
    await third.signOut({ scope: "local" });
    expect([await isIn(first), await isIn(second), await isIn(third)]).toEqual([true, true, false]);
    await first.signOut({ scope: "others" });
    expect([await isIn(first), await isIn(second)]).toEqual([true, false]);
    expect((await first.signOut()).error).toBeNull();
    const ended = await newAuth().getUser(session.access_token);
    expect(ended.error?.name).toBe("AuthSessionMissingError");
  });

  test("Gets the error codes it knows", async () => {
    const { auth, email } = await signUp();
    const codeOf = async (attempt: Promise<{ error: unknown }>) =>
      ((await attempt).error as { code?: string })?.code;
    const password = somePassword;
    expect(await codeOf(newAuth().signInWithPassword({ email, password: "x" }))).toBe("invalid_credentials");
    expect(await codeOf(newAuth().signUp({ email, password }))).toBe("user_already_exists");
    expect(await codeOf(newAuth().signUp({ email: "no address", password }))).toBe("validation_failed");
    expect(await codeOf(auth.updateUser({ password, current_password: password }))).toBe("same_password");
    expect(await codeOf(auth.verifyOtp({ email, token: "000000", type: "email" }))).toBe("otp_expired");
    const weak = (await newAuth().signUp({ email: someEmail(), password: "short" })).error;
    expect(weak).toMatchObject({ name: "AuthWeakPasswordError", reasons: ["length"] });
  });

  test.each([
    "a&b@example.com",
    "a/b@example.com",
    "a..b@example.com",
    "u@localhost",
    "u@xn--bcher-kva.example",
  ])("Uses any address that HTML accepts: %s", async (email) => {
    must(await newAuth().signUp({ email, password: somePassword }));
    expect(must(await (await signIn(email)).getUser()).user.email).toBe(email);
    must(await newAuth().resetPasswordForEmail(email));
  });
});

describe("The unmodified @supabase/ssr client", () => {
  test("Keeps a session in cookies until it signs out", async () => {
    const { jar, request } = makeBrowser();
    const email = someEmail();
    must(await request().signUp({ email, password: somePassword }));
    expect(must(await request().getClaims())?.claims.email).toBe(email);
    expect((await request().signOut()).error).toBeNull();
    expect(jar.size).toBe(0);
    must(await request().signInWithPassword({ email, password: somePassword }));
    const before = (await request().getSession()).data.session?.refresh_token;
    must(await request().refreshSession());
    expect((await request().getSession()).data.session?.refresh_token).not.toBe(before);
  });

  test.skipIf(isHosted)("Chooses a new password by a link that signs in only this browser", async () => {
    const [mine, strangers] = [makeBrowser(), makeBrowser()];
    const email = someEmail();
    must(await makeBrowser().request().signUp({ email, password: somePassword }));
    must(
      await mine.request().resetPasswordForEmail(email, { redirectTo: `${project.url}/callback?next=/x` }),
    );
    const target = await openLink(email);
    expect([target.pathname, target.hash, target.searchParams.get("next")]).toEqual(["/callback", "", "/x"]);
    const code = target.searchParams.get("code") ?? "";
    expect((await strangers.request().exchangeCodeForSession(code)).error).not.toBeNull();
    const stolen = await fetch(`${project.url}/auth/v1/token?grant_type=pkce`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        apikey: project.key,
        "x-supabase-api-version": "2024-01-01",
      },
      body: JSON.stringify({ auth_code: code, code_verifier: "x".repeat(43) }),
    });
    expect([stolen.status, (await stolen.json()).code]).toEqual([400, "bad_code_verifier"]);
    // Wrong verifiers have not used the code up; its own client has.
    const exchanged = must(await mine.request().exchangeCodeForSession(code));
    expect((exchanged as { redirectType?: string }).redirectType).toBe("recovery");
    expect((await mine.request().exchangeCodeForSession(code)).error).not.toBeNull();
    must(await mine.request().updateUser({ password: "chosen anew" }));
    await signIn(email, "chosen anew");
  });
});

describe.skipIf(isHosted)("A sign-in mail", () => {
  test("Signs in once by a password link, which ends earlier sessions", async () => {
    const { auth: before, email } = await signUp();
    const auth = newAuth();
    must(await auth.resetPasswordForEmail(email, { redirectTo: `${project.url}/callback` }));
    const fragment = new URLSearchParams((await openLink(email)).hash.slice(1));
    expect(fragment.get("type")).toBe("recovery");
    const [access_token = "", refresh_token = ""] = ["access_token", "refresh_token"].map(
      (name) => fragment.get(name) ?? "",
    );
    must(await auth.setSession({ access_token, refresh_token }));
    must(await auth.updateUser({ password: "a new password" }));
    await signIn(email, "a new password");
    expect(await isIn(before)).toBe(false);
    expect((await openLink(email)).searchParams.get("error_code")).toBe("otp_expired");
  });

  test("Creates an account for a new address, and signs in once by six digits", async () => {
    const [email, auth] = [someEmail("new"), newAuth()];
    must(await auth.signInWithOtp({ email, options: { data: { display_name: "Grace" } } }));
    const token = (await latestMail(email)).code ?? "";
    const { user } = must(await auth.verifyOtp({ email, token, type: "email" }));
    expect(user).toMatchObject({ email, user_metadata: { display_name: "Grace" } });
    expect(must(await auth.getClaims())?.claims).toMatchObject({ aal: "aal1", amr: [{ method: "otp" }] });
    expect((await auth.verifyOtp({ email, token, type: "email" })).error).not.toBeNull();
  });

  test.each([
    ["recovery", "email"],
    ["recovery", "magiclink"],
    ["magiclink", "recovery"],
  ] as const)("For %s has digits that verify as %s", async (sent, type) => {
    const { email, auth } = await signUp();
    if (sent === "recovery") must(await auth.resetPasswordForEmail(email));
    else must(await auth.signInWithOtp({ email }));
    must(await newAuth().verifyOtp({ email, token: (await latestMail(email)).code ?? "", type }));
  });

  test("Has a token that a program can send instead of opening the link", async () => {
    const { email, user } = await signUp();
    const auth = newAuth({ flowType: "pkce" });
    must(await auth.signInWithOtp({ email }));
    const token_hash = tokenOf((await latestMail(email)).link);
    expect((await auth.verifyOtp({ token_hash, type: "email_change" })).error?.code).toBe("otp_expired");
    expect(must(await auth.verifyOtp({ token_hash, type: "email" })).user?.id).toBe(user.id);
  });

  test("To an unknown address is answered alike, has no link and makes no unwanted account", async () => {
    const [email, auth] = [someEmail("nobody"), newAuth()];
    expect(await auth.resetPasswordForEmail(email)).toEqual({ data: {}, error: null });
    expect((await auth.signInWithOtp({ email, options: { shouldCreateUser: false } })).error).toBeNull();
    expect(await latestMail(email)).toMatchObject({ link: null, code: null });
    must(await auth.signUp({ email, password: somePassword }));
  });
});
