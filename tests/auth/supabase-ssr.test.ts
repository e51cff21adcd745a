import { createServerClient } from "@supabase/ssr";
import { describe, expect, test } from "vitest";
import { must, realtime, someEmail, somePassword, withAuthProject } from "@/tests/helpers/auth-server";
import { openLink } from "@/tests/helpers/outbox";

const project = withAuthProject();
const { key, isHosted } = project;

/** A browser's cookies, and the unmodified server client of each request that comes with them. */
function makeBrowser() {
  const jar = new Map<string, string>();
  const request = () =>
    createServerClient(project.url, key, {
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

describe("The unmodified @supabase/ssr client", () => {
  test("Keeps a session in cookies until it signs out", async () => {
    const { jar, request } = makeBrowser();
    const email = someEmail();
    must(await request().signUp({ email, password: somePassword }));
    expect(must(await request().getClaims())?.claims.email).toBe(email);
    expect((await request().signOut()).error).toBeNull();
    expect(jar.size).toBe(0);
    must(await request().signInWithPassword({ email, password: somePassword }));
    expect(must(await request().getUser()).user.email).toBe(email);
    const before = (await request().getSession()).data.session?.refresh_token;
    must(await request().refreshSession());
    expect((await request().getSession()).data.session?.refresh_token).not.toBe(before);
  });

  test.skipIf(isHosted)("Chooses a new password by a link that signs in only this browser", async () => {
    const [mine, strangers] = [makeBrowser(), makeBrowser()];
    const email = someEmail();
    must(await makeBrowser().request().signUp({ email, password: somePassword }));
    must(await mine.request().resetPasswordForEmail(email, { redirectTo: `${project.url}/callback` }));
    const code = (await openLink(email)).searchParams.get("code") ?? "";
    expect((await strangers.request().exchangeCodeForSession(code)).error).not.toBeNull();
    const exchanged = must(await mine.request().exchangeCodeForSession(code));
    expect((exchanged as { redirectType?: string }).redirectType).toBe("recovery");
    must(await mine.request().updateUser({ password: "chosen anew" }));
    must(await makeBrowser().request().signInWithPassword({ email, password: "chosen anew" }));
  });
});
