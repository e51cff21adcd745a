import { describe, expect, test } from "vitest";
import { connect, redirectUri, register } from "@/tests/helpers/oauth";
import { withSignIn } from "@/tests/helpers/sign-in";

// As behind a reverse proxy on this machine: the caller is whom the proxy says.
const world = withSignIn({ TRUSTED_PROXIES: "127.0.0.1" });
const { baseUrl } = world;

/** What an address sends to one of the endpoints; the fields are those of a client that is registered. */
async function send(address: string, path: string, fields: Record<string, string>) {
  const response = await fetch(baseUrl() + path, {
    method: "POST",
    headers: { "x-forwarded-for": address },
    body: new URLSearchParams({ client_id: world.clientId, ...fields }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

const some = (name: string) => `${name}_${crypto.randomUUID()}`;

/** The ways to guess at a secret. */
const guesses = {
  "refresh tokens": (address: string) =>
    send(address, "/oauth/token", { grant_type: "refresh_token", refresh_token: some("svc_rt") }),
  codes: (address: string) =>
    send(address, "/oauth/token", {
      grant_type: "authorization_code",
      code: some("code"),
      code_verifier: "v".repeat(43),
      redirect_uri: redirectUri,
    }),
  "tokens to revoke": (address: string) => send(address, "/oauth/revoke", { token: some("svc_at") }),
  "refresh tokens of clients that are not there": (address: string) =>
    send(address, "/oauth/token", {
      grant_type: "refresh_token",
      refresh_token: some("svc_rt"),
      client_id: some("svc_client"),
    }),
};

/** Guesses until the address is refused. @returns how many guesses were answered, and the refusal */
async function guessUntilRefused(guess: () => ReturnType<typeof send>) {
  for (let answered = 0; answered < 150; answered += 1) {
    const answer = await guess();
    if (answer.status === 429) return { answered, refusal: answer };
  }
  throw new Error("An address may guess for ever.");
}

describe("Guessing a secret", () => {
  test.each(Object.entries(guesses))(
    "At %s is refused after a hundred attempts, with the time to wait",
    async (what, guess) => {
      const address = `203.0.113.${10 + Object.keys(guesses).indexOf(what)}`;
      const { answered, refusal } = await guessUntilRefused(() => guess(address));
      expect(answered).toBe(100);
      expect(refusal.body).toEqual({
        error: "too_many_requests",
        error_description: expect.stringMatching(
          /^Too many wrong codes and tokens: 100 .* Try again in \d+ s\.$/,
        ),
        limit: 100,
        retry_after_seconds: expect.any(Number),
      });
      expect(refusal.headers.get("retry-after")).toBe(String(refusal.body.retry_after_seconds));
      expect(refusal.headers.get("cache-control")).toBe("no-store");
    },
  );

  test("Is refused for other kinds of secret too, even right ones", async () => {
    const address = "203.0.113.50";
    const { refresh } = await connect(world.browser, { workspace: world.workspace }, world.clientId);
    await guessUntilRefused(() => guesses.codes(address));
    expect((await guesses["refresh tokens"](address)).status).toBe(429);
    expect((await guesses["tokens to revoke"](address)).status).toBe(429);
    const right = { grant_type: "refresh_token", refresh_token: refresh };
    expect((await send(address, "/oauth/token", right)).status).toBe(429);
    // It used the token up no more than it found out about it, and keeps nobody else waiting.
    expect((await send("203.0.113.51", "/oauth/token", right)).status).toBe(200);
  });
});

test("Never refuses callers with right secrets, beside any number of wrong ones", async () => {
  const address = "203.0.113.60";
  // An office: three sign-ins that are refreshed, and somebody whose program has a token that is over.
  const offices = await Promise.all(
    [1, 2, 3].map(async () => {
      const { body } = await register(baseUrl());
      const pair = await connect(world.browser, { workspace: world.workspace }, body.client_id);
      return { client: body.client_id, token: pair.refresh };
    }),
  );
  for (let round = 0; round < 45; round += 1) {
    const answers = await Promise.all(
      offices.map(({ client, token }) =>
        send(address, "/oauth/token", {
          grant_type: "refresh_token",
          refresh_token: token,
          client_id: client,
        }),
      ),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const [index, office] of offices.entries()) office.token = answers[index]?.body.refresh_token;
    if (round % 3 === 0) expect((await guesses["refresh tokens"](address)).status).toBe(400);
  }
});
