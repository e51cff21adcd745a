import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

const secret = "a-shared-secret-of-an-older-project";
const user = {
  role: "authenticated",
  aud: "authenticated",
  session_id: crypto.randomUUID(),
  email: "a@b.co",
};
let provider: Server;
let issuer: string;
let signingKey: CryptoKey;
let answer: { status: number; body: string };
let asked = 0;

beforeAll(async () => {
  const pair = await generateKeyPair("ES256");
  signingKey = pair.privateKey;
  const jwk = { ...(await exportJWK(pair.publicKey)), kid: "hosted", alg: "ES256", use: "sig" };
  answer = { status: 200, body: JSON.stringify({ keys: [jwk] }) };
  provider = createServer((_, response) => {
    asked += 1;
    response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
  });
  await once(provider.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  issuer = `${url}/auth/v1`;
  vi.stubEnv("SUPABASE_URL", `${url}/`);
  vi.stubEnv("SUPABASE_PUBLISHABLE_KEY", "sb_publishable_x");
  vi.stubEnv("SUPABASE_JWT_SECRET", secret);
});
afterAll(() => void provider.close());

const token = (alg: "ES256" | "HS256", key: CryptoKey | Uint8Array, iss = issuer) =>
  new SignJWT(user)
    .setProtectedHeader({ alg, ...(alg === "ES256" && { kid: "hosted" }) })
    .setSubject(crypto.randomUUID())
    .setIssuer(iss)
    .setExpirationTime("1h")
    .sign(key);
const verify = async (jwt: string) =>
  (await import("@/lib/access/sign-in/verify-user-jwt")).verifyUserJwt(jwt);
const bytes = (text: string) => new TextEncoder().encode(text);

test("Calls nobody unauthorised while a Supabase project's keys cannot be fetched", async () => {
  const good = answer;
  answer = { status: 500, body: "oops" };
  await expect(verify(await token("ES256", signingKey))).rejects.toMatchObject({ code: "unavailable" });
  answer = { status: 200, body: "<html>" };
  await expect(verify(await token("ES256", signingKey))).rejects.toMatchObject({ code: "unavailable" });
  answer = good;
});

test("Verifies a Supabase project's tokens with its keys, which are fetched once", async () => {
  expect(await verify(await token("ES256", signingKey))).toMatchObject({
    role: "authenticated",
    email: "a@b.co",
  });
  const before = asked;
  await verify(await token("ES256", signingKey));
  expect(asked).toBe(before);
  await expect(verify(await token("ES256", signingKey, "urn:outlay:local-auth"))).rejects.toMatchObject({
    code: "invalid_credentials",
  });
});

test("Verifies an older project's tokens with its shared secret, and no others", async () => {
  expect(await verify(await token("HS256", bytes(secret)))).toMatchObject({ role: "authenticated" });
  await expect(
    verify(await token("HS256", bytes("another-secret-of-the-same-length---"))),
  ).rejects.toMatchObject({
    code: "invalid_credentials",
  });
});

test("Has no local sign-in and no outbox beside a Supabase project", async () => {
  const { handleLocalAuth } = await import("@/lib/access/sign-in/local/handler");
  for (const path of ["health", "signup", ".well-known/jwks.json", "verify?token=x"]) {
    expect((await handleLocalAuth(new Request(`http://localhost/auth/v1/${path}`))).status, path).toBe(404);
  }
  expect(await (await import("@/lib/access/sign-in/local/outbox")).readOutbox()).toBeUndefined();
});

test("Refuses to start with a Supabase project without its publishable key, and names it", async () => {
  const { parseEnv } = await import("@/lib/env");
  expect(() => parseEnv({ SUPABASE_URL: "https://x.supabase.co" })).toThrow(
    /NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY/,
  );
  expect(
    parseEnv({ SUPABASE_URL: "https://x.supabase.co", NEXT_PUBLIC_SUPABASE_ANON_KEY: "k" }),
  ).toBeDefined();
});
