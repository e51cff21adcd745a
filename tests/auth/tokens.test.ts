import { createHmac } from "node:crypto";
import { decodeJwt, exportJWK, exportSPKI, generateKeyPair, importJWK, type JWTPayload, SignJWT } from "jose";
import pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";

const server = withAuthServer();
let token: string;
let claims: JWTPayload;
let kid: string;
let ownKey: CryptoKey;
let publicJwk: Record<string, string>;

beforeAll(async () => {
  const { session } = must(
    await makeClient(server.url, server.key).auth.signUp({ email: someEmail(), password: somePassword }),
  );
  token = session?.access_token ?? "";
  claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  publicJwk = (await (await fetch(`${server.url}/auth/v1/.well-known/jwks.json`)).json()).keys[0];
  kid = publicJwk.kid ?? "";
  const { rows } = await server.sql.query("select private_jwk from local_auth.signing_key");
  ownKey = (await importJWK(rows[0].private_jwk, "ES256")) as CryptoKey;
});

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const sign = (changes: JWTPayload = {}, key = ownKey) =>
  new SignJWT({ ...claims, ...changes }).setProtectedHeader({ alg: "ES256", kid }).sign(key);
const unsigned = (header: object) => `${encode(header)}.${encode(claims)}.`;
const hmac = (header: object, secret: string) => {
  const content = `${encode(header)}.${encode(claims)}`;
  return `${content}.${createHmac("sha256", secret).update(content).digest("base64url")}`;
};

async function ask(credential: string | undefined) {
  const answer = await fetch(`${server.url}/api/v1/me`, {
    headers: credential === undefined ? {} : { authorization: credential },
  });
  const body = await answer.json();
  return {
    status: answer.status,
    error: body.error,
    says: body.error_description,
    headers: answer.headers,
    body,
  };
}

test("Names the user in their token", async () => {
  const { status, body } = await ask(`Bearer ${token}`);
  expect(status).toBe(200);
  expect(body.user.id).toBe(claims.sub);
});

test("Says that a proof was given in its second, never in the next one", async () => {
  const { auth } = makeClient(server.url, server.key);
  const { session } = must(await auth.signUp({ email: someEmail(), password: somePassword }));
  const { session_id: id } = decodeJwt(session?.access_token ?? "");
  const provedAt = Math.floor(Date.now() / 1000);
  await server.sql.query(
    "update auth.mfa_amr_claims set updated_at = to_timestamp($2) where session_id = $1",
    [id, provedAt + 0.999],
  );
  const renewed = must(await auth.refreshSession()).session;
  expect(decodeJwt(renewed?.access_token ?? "").amr).toEqual([{ method: "password", timestamp: provedAt }]);
});

test.each([
  ["the name its issuer had before it was an address", "urn:outlay:local-auth"],
  ["another port of this machine, where the service was before", "http://localhost:3999/auth/v1"],
])("Accepts a token of this installation under %s", async (_, iss) => {
  expect((await ask(`Bearer ${await sign({ iss })}`)).status).toBe(200);
});

describe("Refuses a token", () => {
  const anHourAgo = () => Math.floor(Date.now() / 1000) - 3600;
  const cases: [string, () => Promise<string> | string, RegExp][] = [
    [
      "without a signature, by alg none",
      () => unsigned({ alg: "none", typ: "JWT" }),
      /not (accepted|well-formed)/,
    ],
    ["with alg none and our key's id", () => unsigned({ alg: "none", kid }), /not (accepted|well-formed)/],
    [
      "with its signature cut off",
      () => token.slice(0, token.lastIndexOf(".") + 1),
      /not (well-formed|signed)/,
    ],
    [
      "signed with another key under our key's id",
      async () => sign({}, (await generateKeyPair("ES256")).privateKey),
      /identity provider/,
    ],
    [
      "signed by HS256 with the public key as a secret, as PEM",
      async () =>
        hmac(
          { alg: "HS256", kid },
          await exportSPKI((await importJWK(publicJwk, "ES256", { extractable: true })) as CryptoKey),
        ),
      /not accepted/,
    ],
    [
      "signed by HS256 with the public key as a secret, as JWK",
      () => hmac({ alg: "HS256", kid }, JSON.stringify(publicJwk)),
      /not accepted/,
    ],
    ["signed by HS256 with an empty secret", () => hmac({ alg: "HS256" }, ""), /not accepted/],
    [
      "that brings its own key along",
      async () => {
        const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
        return new SignJWT(claims)
          .setProtectedHeader({ alg: "ES256", jwk: await exportJWK(publicKey) })
          .sign(privateKey);
      },
      /identity provider/,
    ],
    [
      "whose claims were changed",
      () => {
        const [header, , signature] = token.split(".");
        return `${header}.${encode({ ...claims, sub: crypto.randomUUID() })}.${signature}`;
      },
      /identity provider/,
    ],
    ["that has expired", () => sign({ exp: anHourAgo(), iat: anHourAgo() - 3600 }), /has expired/],
    ["that is not valid yet", () => sign({ nbf: anHourAgo() + 7200 }), /lacks a valid "nbf"/],
    ["that never expires", () => sign({ exp: undefined as never }), /lacks a valid "exp"/],
    [
      "of another issuer",
      () => sign({ iss: "https://elsewhere.example/auth/v1" }),
      /not issued by this service's identity provider/,
    ],
    [
      "of a path of this machine that signs nothing",
      () => sign({ iss: "http://localhost:3999/" }),
      /not issued by this service's identity provider/,
    ],
    [
      "of no issuer",
      () => sign({ iss: undefined as never }),
      /not issued by this service's identity provider/,
    ],
    ["for another audience", () => sign({ aud: "anon" }), /is for another audience/],
    ["of the service role", () => sign({ role: "service_role" }), /not a user's/],
    ["whose subject is no id", () => sign({ sub: "1 or 1=1" }), /not a user's/],
    ["that is no token", () => "nonsense", /not well-formed/],
    ["that is three empty parts", () => "..", /not well-formed/],
  ];
  test.each(cases)("%s", async (_, make, reason) => {
    const { status, error, says, headers } = await ask(`Bearer ${await make()}`);
    expect([status, error]).toEqual([401, "invalid_credentials"]);
    expect(says).toMatch(reason);
    expect(headers.get("www-authenticate")).toMatch(/^Bearer realm="outlay", error="invalid_token"/);
    expect(headers.get("content-type")).toMatch("application/json");
  });

  test("As an API key, naming the credential that is needed", async () => {
    const { status, error, says } = await ask("Bearer svc_live_0123456789abcdef0123456789abcdef012345");
    expect([status, error]).toEqual([401, "invalid_credentials"]);
    expect(says).toMatch(/user's access token/);
  });

  test.each([undefined, "", "Basic YTpi", `Token ${"x".repeat(10)}`])(
    "When there is none (%s)",
    async (credential) => {
      const { status, error } = await ask(credential);
      expect([status, error]).toEqual([401, "missing_credentials"]);
    },
  );

  test("Of a deleted account", async () => {
    const { status, error } = await ask(`Bearer ${await sign({ sub: crypto.randomUUID() })}`);
    expect([status, error]).toEqual([401, "invalid_credentials"]);
  });
});

test("Signs with one key on all processes, made by the first that needs it", async () => {
  const admin = new pg.Pool({ connectionString: server.database.url, max: 5 });
  const offers = await Promise.all(
    [1, 2, 3, 4, 5].map((offer) =>
      admin.query("select local_auth.keep_signing_key($1) ->> 'kid' as kid", [{ kid: offer }]),
    ),
  );
  await admin.end();
  expect(offers.map(({ rows }) => rows[0].kid)).toEqual([kid, kid, kid, kid, kid]);
});
