import { describe, expect, test } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthProject } from "@/tests/helpers/auth-server";
import { latestMail, openLink } from "@/tests/helpers/outbox";

const project = withAuthProject();
const { key, isHosted } = project;

const json = { "content-type": "application/json" };
const signUp = async (email = someEmail(), auth = {}) => {
  const client = makeClient(project.url, key, auth);
  const options = { data: { display_name: "Ada Lovelace" } };
  const { session, user } = must(await client.auth.signUp({ email, password: somePassword, options }));
  if (!session || !user) throw new Error("Sign-up gave no session.");
  return { client, email, session, user };
};

describe("The unmodified supabase-js client", () => {
  test("Signs up and is signed in at once", async () => {
    const { session, user, email } = await signUp();
    expect(user).toMatchObject({ email, aud: "authenticated", role: "authenticated", is_anonymous: false });
    expect(user.user_metadata).toMatchObject({ display_name: "Ada Lovelace" });
    expect(user.identities?.[0]).toMatchObject({ provider: "email", user_id: user.id });
    expect(session.expires_in).toBe(3600);
    expect(session.token_type).toBe("bearer");
  });

  test("Signs in with the address in any case", async () => {
    const { email, user } = await signUp();
    const client = makeClient(project.url, key);
    const signedIn = must(
      await client.auth.signInWithPassword({ email: email.toUpperCase(), password: somePassword }),
    );
    expect(signedIn.user?.id).toBe(user.id);
  });

  test("Verifies its claims against the JWKS", async () => {
    const { client, user, email } = await signUp();
    const claims = must(await client.auth.getClaims());
    expect(claims?.claims).toMatchObject({ sub: user.id, email, role: "authenticated", aal: "aal1" });
    expect(claims?.claims.amr).toMatchObject([{ method: "password" }]);
    const jwks = await (
      await fetch(`${project.url}/auth/v1/.well-known/jwks.json`, { headers: { apikey: key } })
    ).json();
    expect(jwks.keys.every((jwk: object) => !("d" in jwk))).toBe(true);
  });

  test("Reads the user, and changes their data and password", async () => {
    const { client, email, user } = await signUp();
    expect(must(await client.auth.getUser()).user?.id).toBe(user.id);
    const changed = must(
      await client.auth.updateUser({
        password: "another good one",
        current_password: somePassword,
        data: { theme: "dark" },
      }),
    );
    expect(changed.user?.user_metadata).toMatchObject({ display_name: "Ada Lovelace", theme: "dark" });
    const again = makeClient(project.url, key).auth;
    const refused = await again.signInWithPassword({ email, password: somePassword });
    expect(refused.error).toMatchObject({ status: 400, code: "invalid_credentials" });
    must(await again.signInWithPassword({ email, password: "another good one" }));
  });

  test("Changes the password, keeps this session and ends every other", async () => {
    const { client: here, email } = await signUp();
    const others = await Promise.all(
      [1, 2].map(async () => {
        const { auth } = makeClient(project.url, key);
        must(await auth.signInWithPassword({ email, password: somePassword }));
        return auth;
      }),
    );
    must(await here.auth.updateUser({ password: "another good one", current_password: somePassword }));
    for (const auth of others)
      expect((await auth.refreshSession()).error).toMatchObject({ code: "refresh_token_not_found" });
    must(await here.auth.refreshSession());
  });

  test("Refreshes its session", async () => {
    const { client, session } = await signUp();
    const refreshed = must(await client.auth.refreshSession()).session;
    expect(refreshed?.refresh_token).not.toBe(session.refresh_token);
    expect(must(await client.auth.getClaims())?.claims.session_id).toBeTruthy();
  });

  test("Signs out, which ends the session for the remaining token too", async () => {
    const { client, session } = await signUp();
    expect((await client.auth.signOut()).error).toBeNull();
    const other = makeClient(project.url, key).auth;
    expect((await other.getUser(session.access_token)).error?.name).toBe("AuthSessionMissingError");
    const { refresh_token } = session;
    expect((await other.refreshSession({ refresh_token })).error).toMatchObject({
      code: "refresh_token_not_found",
    });
  });

  test("Signs out here, elsewhere or everywhere", async () => {
    const { client: first, email } = await signUp();
    const others = await Promise.all(
      [1, 2].map(async () => {
        const client = makeClient(project.url, key);
        must(await client.auth.signInWithPassword({ email, password: somePassword }));
        return client;
      }),
    );
    const [second, third] = others as [typeof first, typeof first];
    const isIn = async (client: typeof first) => (await client.auth.refreshSession()).error === null;
    await third.auth.signOut({ scope: "local" });
    expect([await isIn(first), await isIn(second)]).toEqual([true, true]);
    await first.auth.signOut({ scope: "others" });
    expect([await isIn(first), await isIn(second)]).toEqual([true, false]);
    await first.auth.signOut();
    expect(await isIn(first)).toBe(false);
  });

  test("Gets the error codes it knows", async () => {
    const { client, email } = await signUp();
    const auth = makeClient(project.url, key).auth;
    const codeOf = async (attempt: Promise<{ error: unknown }>) =>
      ((await attempt).error as { code?: string })?.code;
    expect(await codeOf(auth.signInWithPassword({ email, password: "wrong" }))).toBe("invalid_credentials");
    expect(await codeOf(auth.signUp({ email, password: somePassword }))).toBe("user_already_exists");
    expect(await codeOf(auth.signUp({ email: "not an address", password: somePassword }))).toBe(
      "validation_failed",
    );
    const unchanged = { password: somePassword, current_password: somePassword };
    expect(await codeOf(client.auth.updateUser(unchanged))).toBe("same_password");
    const weak = (await auth.signUp({ email: someEmail(), password: "short" })).error;
    expect(weak).toMatchObject({ name: "AuthWeakPasswordError", reasons: ["length"] });
    expect(await codeOf(auth.verifyOtp({ email, token: "000000", type: "email" }))).toBe("otp_expired");
  });
});

describe.skipIf(isHosted)("Mails", () => {
  test("Sign in once by a password link, which ends earlier sessions", async () => {
    const { client: before, email } = await signUp();
    const client = makeClient(project.url, key);
    must(await client.auth.resetPasswordForEmail(email, { redirectTo: `${project.url}/callback` }));
    const fragment = new URLSearchParams((await openLink(email)).hash.slice(1));
    expect(fragment.get("type")).toBe("recovery");
    must(
      await client.auth.setSession({
        access_token: fragment.get("access_token") ?? "",
        refresh_token: fragment.get("refresh_token") ?? "",
      }),
    );
    must(await client.auth.updateUser({ password: "a new password" }));
    must(await makeClient(project.url).auth.signInWithPassword({ email, password: "a new password" }));
    expect((await before.auth.refreshSession()).error).toMatchObject({ code: "refresh_token_not_found" });
    expect((await openLink(email)).searchParams.get("error_code")).toBe("otp_expired");
  });

  test("Sign in by a link with PKCE, for the client that asked only", async () => {
    const { client, email, user } = await signUp(undefined, { flowType: "pkce" });
    must(
      await client.auth.signInWithOtp({
        email,
        options: { emailRedirectTo: `${project.url}/callback?next=/x` },
      }),
    );
    const target = await openLink(email);
    expect(target.pathname + target.hash).toBe("/callback");
    expect(target.searchParams.get("next")).toBe("/x");
    const code = target.searchParams.get("code") ?? "";
    expect(must(await client.auth.exchangeCodeForSession(code)).user?.id).toBe(user.id);
    expect((await client.auth.exchangeCodeForSession(code)).error).not.toBeNull();

    must(await client.auth.signInWithOtp({ email }));
    const stolen = (await openLink(email)).searchParams.get("code");
    const thief = await fetch(`${project.url}/auth/v1/token?grant_type=pkce`, {
      method: "POST",
      headers: json,
      body: JSON.stringify({ auth_code: stolen, code_verifier: "x".repeat(43) }),
    });
    expect([thief.status, (await thief.json()).error_code]).toEqual([400, "bad_code_verifier"]);
  });

  test("Sign in by six digits too, and create an account for a new address", async () => {
    const [email, auth] = [someEmail("new"), makeClient(project.url).auth];
    must(await auth.signInWithOtp({ email, options: { data: { display_name: "Grace" } } }));
    const { code } = await latestMail(email);
    const { user } = must(await auth.verifyOtp({ email, token: code ?? "", type: "email" }));
    expect(user).toMatchObject({ email, user_metadata: { display_name: "Grace" } });
    expect((await auth.verifyOtp({ email, token: code ?? "", type: "email" })).error).not.toBeNull();
  });

  test("Let a program send a link's token instead of opening it", async () => {
    const { email, user } = await signUp();
    const auth = makeClient(project.url, key, { flowType: "pkce" }).auth;
    must(await auth.signInWithOtp({ email }));
    const token_hash = new URL((await latestMail(email)).link ?? "").searchParams.get("token") ?? "";
    expect(must(await auth.verifyOtp({ token_hash, type: "email" })).user?.id).toBe(user.id);
  });

  test("Link to this service or this machine, never elsewhere", async () => {
    const { email, client } = await signUp();
    for (const [wanted, reached] of [
      ["https://evil.example/callback", project.url],
      ["javascript:alert(1)", project.url],
      [`${project.url}@evil.example/`, project.url],
      ["http://localhost:9/mine", "http://localhost:9"],
    ]) {
      await client.auth.signInWithOtp({ email, options: { emailRedirectTo: wanted ?? "" } });
      expect((await openLink(email)).origin, wanted).toBe(reached);
    }
  });

  test("Answer unknown addresses alike, without link and without an unwanted account", async () => {
    const [email, auth] = [someEmail("nobody"), makeClient(project.url).auth];
    expect(await auth.resetPasswordForEmail(email)).toEqual({ data: {}, error: null });
    expect((await auth.signInWithOtp({ email, options: { shouldCreateUser: false } })).error).toBeNull();
    expect(await latestMail(email)).toMatchObject({ link: null, code: null });
    must(await auth.signUp({ email, password: somePassword }));
  });
});

describe.skipIf(isHosted)("The protocol", () => {
  test("Answers errors in the shape of the client's version header", async () => {
    const ask = async (headers: Record<string, string>) => {
      const body = JSON.stringify({ email: someEmail(), password: "wrong" });
      const answer = await fetch(`${project.url}/auth/v1/token?grant_type=password`, {
        method: "POST",
        headers: { ...json, ...headers },
        body,
      });
      expect(answer.headers.get("x-sb-error-code")).toBe("invalid_credentials");
      return [answer.headers.get("x-supabase-api-version"), await answer.json()];
    };
    const message = "Invalid login credentials";
    expect(await ask({ "X-Supabase-Api-Version": "2024-01-01" })).toEqual([
      "2024-01-01",
      { code: "invalid_credentials", message },
    ]);
    expect(await ask({})).toEqual([null, { code: 400, error_code: "invalid_credentials", msg: message }]);
  });

  test.each([
    ["POST", "signup", "not json", 400],
    ["POST", "signup", JSON.stringify({ email: "a@b.co", password: `${"x".repeat(20_000)}` }), 413],
    ["POST", "signup", JSON.stringify({ email: "a@b.co", password: "ü".repeat(40) }), 400],
    ["POST", "signup", JSON.stringify({ email: "a\u0000@b.co", password: "long enough" }), 400],
    ["POST", "signup", JSON.stringify({ password: "long enough" }), 422],
    ["POST", "signup", "[]", 400],
    ["POST", "token?grant_type=magic", "{}", 400],
    ["POST", "logout?scope=all", "{}", 400],
    ["POST", "constructor", "{}", 404],
    ["DELETE", "user", undefined, 405],
    ["PUT", "signup", "{}", 405],
    ["GET", "user", undefined, 401],
  ])("Refuses %s %s with %s by %i", async (method, path, body, status) => {
    const answer = await fetch(`${project.url}/auth/v1/${path}`, {
      method,
      ...(body !== undefined && { headers: json, body }),
    });
    expect(answer.status).toBe(status);
  });
});
