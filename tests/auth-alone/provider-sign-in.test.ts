import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { SignJWT } from "jose";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { sessionCookieName } from "@/lib/access/sign-in/session-client";
import { withHarness } from "@/tests/helpers/harness";
import { withPages } from "@/tests/helpers/service";

const secret = "a-shared-secret-of-an-older-project";
let settings: { status: number; external: Record<string, unknown> };
let settingsAsked = 0;
/** The verifiers that the project was sent with codes. */
let verifiers: string[] = [];

// As Supabase Auth answers them.
const project = createServer(async (request, response) => {
  const answer = (status: number, body: object) =>
    response
      .writeHead(status, { "content-type": "application/json", "x-supabase-api-version": "2024-01-01" })
      .end(JSON.stringify(body));
  const { pathname } = new URL(request.url ?? "", "http://project.invalid");
  if (pathname === "/auth/v1/settings") {
    settingsAsked += 1;
    return answer(settings.status, { external: settings.external, disable_signup: false });
  }
  if (pathname !== "/auth/v1/token") return answer(404, { code: "not_found", message: "Not found" });
  let text = "";
  for await (const chunk of request) text += chunk;
  const { auth_code: code, code_verifier: verifier } = JSON.parse(text);
  verifiers.push(verifier);
  if (code !== "a-good-code") return answer(400, { code: "flow_state_not_found", message: "No such flow" });
  const user = { id: crypto.randomUUID(), email: "ada@example.com", aud: "authenticated", identities: [] };
  const claims = { role: "authenticated", session_id: crypto.randomUUID(), email: user.email };
  answer(200, {
    access_token: await new SignJWT(claims)
      .setProtectedHeader({ alg: "HS256" })
      .setSubject(user.id)
      .setIssuer(`${url}/auth/v1`)
      .setAudience("authenticated")
      .setExpirationTime("1h")
      .sign(new TextEncoder().encode(secret)),
    ...{ token_type: "bearer", expires_in: 3600, refresh_token: "a-refresh-token", user },
    ...{ provider_token: "gho_of_the_provider", provider_refresh_token: "ghr_of_the_provider" },
  });
});
await new Promise<void>((resolve) => project.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(project.address() as AddressInfo).port}`;
afterAll(() => void project.close());

const harness = withHarness({
  settings: {
    ...withPages,
    SUPABASE_URL: url,
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
    SUPABASE_JWT_SECRET: secret,
  },
});

beforeEach(() => {
  settings = {
    status: 200,
    external: { email: true, phone: true, github: true, google: false, keycloak: true, unheard_of: true },
  };
  [settingsAsked, verifiers] = [0, []];
});

/** Opens an address of a service as a browser does, with its cookies. */
function browserAt(baseUrl: string) {
  const jar = new Map<string, string>();
  const open = async (path: string, headers: Record<string, string> = {}) => {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(baseUrl + path, { redirect: "manual", headers: { cookie, ...headers } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "") jar.delete(name);
      else jar.set(name, value);
    }
    return { answer, location: answer.headers.get("location") ?? "", html: await answer.text() };
  };
  return { open, jar };
}
/** A browser at a service that all tests share; the project's settings are kept for a minute. */
const browser = () => browserAt(harness.services[0]?.baseUrl ?? "");
const offersOf = (html: string) =>
  [...html.matchAll(/<a href="\/sign-in\/provider[^>]*>Continue with (?:<!-- -->)?([^<]+)<\/a>/g)].map(
    ([, name]) => name,
  );

describe("Sign-in with other services", () => {
  test("Is offered for those that the project has turned on and that have a name here", async () => {
    const { open } = browser();
    for (const page of ["/sign-in?next=/x%3Fy", "/sign-up?next=/x%3Fy"]) {
      const { html } = await open(page);
      expect(offersOf(html), page).toEqual(["GitHub", "single sign-on"]);
      expect(html).toContain('href="/sign-in/provider?provider=github&amp;next=%2Fx%3Fy"');
    }
  });

  test("Leaves the page as it was while the project's settings cannot be read", async () => {
    settings.status = 503;
    const { open } = browserAt((await harness.start()).baseUrl);
    const { answer, html } = await open("/sign-in");
    expect([answer.status, offersOf(html)]).toEqual([200, []]);
    expect(html).toContain("Password");
    await open("/sign-in");
    expect(settingsAsked, "asked once a minute").toBe(1);
  });

  test("Leads to the project with a challenge, and signs in the browser that began it", async () => {
    const baseUrl = harness.services[0]?.baseUrl ?? "";
    const { open, jar } = browserAt(baseUrl);
    const { answer, location } = await open("/sign-in/provider?provider=keycloak&next=/x");
    expect([answer.status, answer.headers.get("cache-control")]).toEqual([303, "no-store"]);
    const target = new URL(location);
    expect(target.origin + target.pathname).toBe(`${url}/auth/v1/authorize`);
    expect(Object.fromEntries(target.searchParams)).toMatchObject({
      provider: "keycloak",
      scopes: "openid",
      redirect_to: `${baseUrl}/callback?for=provider&next=%2Fx`,
      code_challenge_method: "s256",
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(answer.headers.getSetCookie().join("\n")).toMatch(/verifier[^\n]*HttpOnly/i);

    const back = await open("/callback?for=provider&next=/x&code=a-good-code");
    expect([back.answer.status, back.location]).toEqual([303, "/x"]);
    expect(verifiers).toHaveLength(1);
    const kept = Buffer.from(
      jar.get(sessionCookieName)?.replace("base64-", "") ?? "",
      "base64url",
    ).toString();
    expect(kept).toContain("a-refresh-token");
    expect(kept, "what the provider gave stays out of the cookies").not.toContain("of_the_provider");
  });

  test("Signs nobody in with a code of another browser's sign-in", async () => {
    const baseUrl = harness.services[0]?.baseUrl ?? "";
    await browserAt(baseUrl).open("/sign-in/provider?provider=github");
    const victim = browserAt(baseUrl);
    const { location } = await victim.open("/callback?for=provider&next=/x&code=a-good-code");
    expect(location).toBe("/sign-in?next=%2Fx&problem=other-browser");
    expect([verifiers, victim.jar.has(sessionCookieName)]).toEqual([[], false]);
  });

  test.each(["cross-site", "same-site"])("Is not begun by a link on a %s page", async (site) => {
    const { open, jar } = browser();
    const { location } = await open("/sign-in/provider?provider=github&next=/x", { "sec-fetch-site": site });
    expect([location, jar.size]).toEqual(["/sign-in?next=%2Fx", 0]);
  });

  test.each(["google", "unheard_of", "email", ""])(
    "Is not begun with %o, which is not offered",
    async (provider) => {
      const { open, jar } = browser();
      const { location } = await open(`/sign-in/provider?provider=${provider}`);
      expect([location, jar.size]).toEqual(["/sign-in?next=%2Fworkspaces&problem=not-offered", 0]);
      expect((await open(location)).html).toContain("This way of signing in is not offered here.");
    },
  );

  test("Leads to no other site, before or after", async () => {
    const { open } = browser();
    for (const next of ["//evil.example", "https://evil.example", "/\\evil.example"]) {
      const wanted = encodeURIComponent(next);
      const { location } = await open(`/sign-in/provider?provider=github&next=${wanted}`);
      expect(new URL(location).searchParams.get("redirect_to")).toMatch(/for=provider&next=%2Fworkspaces$/);
      expect((await open(`/callback?for=provider&next=${wanted}&code=a-good-code`)).location).toBe(
        "/workspaces",
      );
    }
  });

  test.each([
    ["error=access_denied&error_description=Declined", "The other service did not sign you in."],
    [
      "error=server_error&error_code=unexpected_failure&error_description=Error+getting+user+email+from+external+provider",
      "did not tell us your e-mail address",
    ],
    [
      "error=access_denied&error_code=provider_email_needs_verification&error_description=Unverified+email+with+github.+Verify+the+email+with+github",
      "Confirm it there, then sign in again.",
    ],
    [
      "error=access_denied&error_code=provider_email_needs_verification&error_description=A+confirmation+email+has+been+sent+to+your+github+email",
      "Open the link that we sent to it, then sign in again.",
    ],
    ["error=access_denied&error_code=signup_disabled", "new accounts cannot be made here"],
    ["error=invalid_request&error_code=bad_oauth_state", "took too long or was already used"],
    ["error=server_error&error_code=unexpected_failure", "could not be asked who you are"],
    ["code=an-old-code", "took too long or was already used"],
  ])("Says in words what went wrong: %s", async (query, words) => {
    const { open } = browser();
    await open("/sign-in/provider?provider=github");
    const { location } = await open(`/callback?for=provider&next=/x&${query}`);
    expect(location).toMatch(/^\/sign-in\?next=%2Fx&problem=/);
    expect((await open(location)).html).toContain(words);
  });
});
