import { describe, expect, test } from "vitest";
import { allowing, connect, openPage, redirectUri, sendForm } from "@/tests/helpers/oauth";
import { slugOf, withSignIn } from "@/tests/helpers/sign-in";

const world = withSignIn();
const { link } = world;

describe("The consent form", () => {
  const nonceOf = async (by = world.browser) => (await openPage(by, link())).nonce;
  const stale = "/oauth/problem?why=stale";

  test("Cannot be sent by another session, another user or a visitor", async () => {
    const nonce = await nonceOf();
    expect(
      (await sendForm(world.other, allowing(nonce, { workspace: await slugOf(world.other) }))).location,
    ).toBe(stale);
    expect(
      (await sendForm({ ...world.browser, cookie: "" }, allowing(nonce, { workspace: world.workspace })))
        .status,
    ).toBe(401);
    // It is still there for whom it was meant.
    expect(
      (await sendForm(world.browser, allowing(nonce, { workspace: world.workspace }))).location,
    ).toContain("code=");
  });

  test("Cannot be forged, sent twice, or answered both ways", async () => {
    expect(
      (await sendForm(world.browser, allowing("made-up", { workspace: world.workspace }))).location,
    ).toBe(stale);
    const nonce = await nonceOf();
    const form = allowing(nonce, { workspace: world.workspace });
    const answers = await Promise.all([sendForm(world.browser, form), sendForm(world.browser, form)]);
    expect(answers.filter(({ location }) => location.includes("code="))).toHaveLength(1);
    expect((await sendForm(world.browser, form)).location).toBe(stale);
    const denied = await nonceOf();
    const refusal = new URL((await sendForm(world.browser, [["nonce", denied ?? ""]])).location);
    expect(refusal.searchParams.get("error")).toBe("access_denied");
    expect((await sendForm(world.browser, allowing(denied, { workspace: world.workspace }))).location).toBe(
      stale,
    );
  });

  test("Holds neither client, redirect, state nor resource that could be changed", async () => {
    const nonce = await nonceOf();
    const { location } = await sendForm(world.browser, [
      ["client_id", "svc_client_other"],
      ["redirect_uri", "https://evil.example"],
      ["state", "another"],
      ["resource", "https://evil.example"],
      ...allowing(nonce, { workspace: world.workspace }),
    ]);
    const answered = new URL(location);
    expect(answered.origin + answered.pathname).toBe(redirectUri);
    expect(answered.searchParams.get("state")).toBe("a state");
  });

  test("Cannot be sent by another site with the user's cookies", async () => {
    const nonce = await nonceOf();
    const form = allowing(nonce, { workspace: world.workspace });
    for (const headers of [
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-site": "same-site" },
      { origin: "https://evil.example" },
      {},
    ] as Record<string, string>[]) {
      const { status, body } = await sendForm(world.browser, form, headers);
      expect([status, JSON.parse(body).error]).toEqual([403, "origin_not_allowed"]);
    }
  });

  test("Cannot be framed", async () => {
    const { headers } = await openPage(world.browser, link());
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    expect(headers.get("x-frame-options")).toBe("DENY");
    expect(headers.get("cache-control")).toContain("no-store");
  });

  test("Grants no other workspace or project and no invented permission or limit", async () => {
    const choices = [
      { workspace: await slugOf(world.other) },
      { workspace: "no-such-workspace" },
      { workspace: world.workspace, project: "no-such-project" },
      { workspace: world.workspace, permissions: [] },
      { workspace: world.workspace, permissions: ["everything"] },
      { workspace: world.workspace, monthlyLimit: "-1" },
      { workspace: world.workspace, monthlyLimit: "1e3" },
    ];
    for (const choice of choices) {
      const { location } = await sendForm(world.browser, allowing(await nonceOf(), choice));
      expect([choice, location]).toEqual([choice, "/oauth/problem?why=choice"]);
    }
  });

  test("Grants what was requested and ticked, and nothing else sent or granted earlier", async () => {
    const all = ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"];
    const choice = { workspace: world.workspace, permissions: all };
    const first = await connect(world.browser, choice, world.clientId, all.join(" "));
    expect(first.scope).toBe(all.join(" "));

    const page = await openPage(world.browser, link({ scope: "log_usage" }));
    const boxes = [...page.html.matchAll(/<input[^>]*type="checkbox"[^>]*>/g)].map(([box]) => box);
    expect(boxes.map((box) => [/value="(\w+)"/.exec(box)?.[1], /\schecked=/.test(box)])).toEqual([
      ["log_usage", true],
      ["read_summaries", true],
    ]);
    expect(page.html).toContain("This ends: Add expenses, Manage subscriptions.");

    const second = await connect(world.browser, choice, world.clientId, "log_usage");
    expect(second.scope).toBe("log_usage read_summaries");
    const { location } = await sendForm(
      world.browser,
      allowing((await openPage(world.browser, link({ scope: "read_summaries" }))).nonce, {
        workspace: world.workspace,
        permissions: ["manage_subscriptions"],
      }),
    );
    expect(location).toBe("/oauth/problem?why=choice");
  });

  test("Expires after ten minutes", async () => {
    const nonce = await nonceOf();
    const { rowCount } = await world.harness.fixtures.sql.query(
      `update private.oauth_authorizations set expires_at = now()
       where client_id = $1 and expires_at between now() + interval '9 minutes' and now() + interval '10 minutes'`,
      [world.clientId],
    );
    expect(rowCount).toBe(1);
    expect((await sendForm(world.browser, allowing(nonce, { workspace: world.workspace }))).location).toBe(
      stale,
    );
  });
});
