import { describe, expect, test } from "vitest";
import { consent, openPage, registerClient } from "@/tests/helpers/oauth";
import { refusalOf, withSignIn } from "@/tests/helpers/sign-in";

const world = withSignIn();
const { baseUrl, link, exchange } = world;

describe("A redirect", () => {
  test.each([
    ["another path", "http://127.0.0.1:33418/other"],
    ["a longer path", "http://127.0.0.1:33418/callback/more"],
    ["a query", "http://127.0.0.1:33418/callback?more"],
    ["a fragment", "http://127.0.0.1:33418/callback#part"],
    ["another name of this machine", "http://localhost:33418/callback"],
    ["another host", "http://evil.example/callback"],
    ["a host that begins the same", "http://127.0.0.1.evil.example/callback"],
    ["a user", "http://127.0.0.1:33418@evil.example/callback"],
    ["https", "https://127.0.0.1:33418/callback"],
    ["a script", "javascript:alert(1)"],
    ["none", undefined],
  ])("With %s is refused on a page, and nobody is redirected", async (_, redirect) => {
    const page = await openPage(world.browser, link({ redirect_uri: redirect }));
    expect(page.location).toBeNull();
    expect(page.nonce).toBeUndefined();
    expect(page.html).toContain("This program cannot be connected");
  });

  test("To a program on this machine may have another port", async () => {
    const elsewhere = "http://127.0.0.1:51000/callback";
    const code = await consent(world.browser, link({ redirect_uri: elsewhere }), {
      workspace: world.workspace,
    });
    expect(refusalOf(await exchange(code))).toBe("400 invalid_grant");
    const again = await consent(world.browser, link({ redirect_uri: elsewhere }), {
      workspace: world.workspace,
    });
    expect((await exchange(again, { redirect_uri: elsewhere })).status).toBe(200);
  });

  test("To a web address must match exactly, including the port", async () => {
    world.clientId = await registerClient(baseUrl(), { redirect_uris: ["https://app.example/callback"] });
    expect(
      (await openPage(world.browser, link({ redirect_uri: "https://app.example/callback" }))).nonce,
    ).toBeDefined();
    for (const redirect of [
      "https://app.example:8443/callback",
      "https://app.example/callback/",
      "https://APP.example/callback",
    ])
      expect((await openPage(world.browser, link({ redirect_uri: redirect }))).nonce).toBeUndefined();
  });
});

describe("An authorization request", () => {
  test.each([
    ["a challenge in the clear", { code_challenge_method: "plain" }, "invalid_request"],
    ["no method, which means plain", { code_challenge_method: undefined }, "invalid_request"],
    ["no challenge", { code_challenge: undefined }, "invalid_request"],
    ["a foreign resource", { resource: "https://evil.example/api/mcp" }, "invalid_target"],
    ["the implicit flow", { response_type: "token" }, "unsupported_response_type"],
    ["no question asked", { prompt: "none" }, "consent_required"],
  ])("With %s is redirected back with an error", async (_, changes, error) => {
    const { location } = await openPage(world.browser, link(changes));
    expect(new URL(location ?? "").searchParams.get("error")).toBe(error);
  });

  test("Is redirected to the web only by the user's click", async () => {
    world.clientId = await registerClient(baseUrl(), { redirect_uris: ["https://phish.example/callback"] });
    const page = await openPage(
      world.browser,
      link({ redirect_uri: "https://phish.example/callback", response_type: "bogus" }),
    );
    expect([page.status, page.location, page.nonce]).toEqual([200, null, undefined]);
    expect(page.html).toContain("https://phish.example/callback?error=unsupported_response_type");
  });

  test("Of an unregistered client is refused on a page", async () => {
    world.clientId = "svc_client_nobody";
    const page = await openPage(world.browser, link());
    expect([page.location, page.nonce]).toEqual([null, undefined]);
  });

  test("With a repeated parameter is refused", async () => {
    const { location } = await openPage(world.browser, `${link()}&resource=https%3A%2F%2Fevil.example`);
    expect(new URL(location ?? "").searchParams.get("error")).toBe("invalid_request");
    const page = await openPage(world.browser, `${link()}&redirect_uri=https%3A%2F%2Fevil.example`);
    expect([page.location, page.nonce]).toEqual([null, undefined]);
  });
});
