import { generateKeyPair, importJWK, type JWTPayload, SignJWT } from "jose";
import pg from "pg";
import type { WorkspaceRole } from "@/lib/contract/access/me";
import { signUpUser } from "@/tests/helpers/client";
import type { Harness } from "@/tests/helpers/harness";
import { addUser, type User } from "@/tests/helpers/team";

/** Every kind of caller: members of the workspace, by role, and others. */
export const members = ["viewer", "member", "admin", "owner"] as const satisfies WorkspaceRole[];
export const outsiders = [
  "a stranger",
  "an API key",
  "an expired token",
  "a token with alg none",
  "a token signed by another key",
  "a member of another workspace",
  "an owner who has not given their code",
] as const;
export const callers = [...outsiders, ...members] as const;
export type Caller = (typeof callers)[number];

/** A workspace with a user of every role, and each caller's Authorization header. */
export type World = {
  harness: Harness;
  baseUrl: string;
  workspace: { id: string; slug: string };
  users: Record<WorkspaceRole, User>;
  credentials: Record<Caller, string | null>;
};

/** Creates the callers on a harness that has a service. */
export async function prepareWorld(harness: Harness): Promise<World> {
  const baseUrl = harness.services[0]?.baseUrl ?? "";
  const slug = "the-team";
  const id = await harness.fixtures.workspace(slug);
  const users = {} as World["users"];
  for (const role of members) users[role] = await addUser(harness, id, role);
  const { token } = await signUpUser(baseUrl);
  const { secret } = await harness.fixtures.key(id);
  const guarded = await addUser(harness, id, "owner");
  await addFactor(harness, guarded.id);
  const forged = await forgeTokens(harness, users.owner.token);
  return {
    harness,
    baseUrl,
    workspace: { id, slug },
    users,
    credentials: {
      "a stranger": null,
      "an API key": secret,
      ...forged,
      "a member of another workspace": token,
      "an owner who has not given their code": guarded.token,
      viewer: users.viewer.token,
      member: users.member.token,
      admin: users.admin.token,
      owner: users.owner.token,
    },
  };
}

/**
 * Gives a user a verified authenticator without a known secret, so that their sessions are of level aal1 from then on.
 */
export async function addFactor({ fixtures }: Harness, userId: string): Promise<void> {
  await fixtures.sql.query(
    `insert into auth.mfa_factors (id, user_id, friendly_name, factor_type, status, created_at, updated_at, secret)
     values (gen_random_uuid(), $1, 'Phone', 'totp', 'verified', now(), now(), 'JBSWY3DPEHPK3PXP')`,
    [userId],
  );
}

/** A user's token with other claims, signed as the local sign-in signs it. */
export async function resign(
  harness: Harness,
  token: string,
  change: (claims: JWTPayload) => JWTPayload,
): Promise<string> {
  const claims: JWTPayload = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const { kid, own } = await readSigningKey(harness);
  return new SignJWT(change(claims)).setProtectedHeader({ alg: "ES256", kid }).sign(own);
}

/** The owner's token, invalidated in each of several ways. */
async function forgeTokens(harness: Harness, token: string) {
  const claims: JWTPayload = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
  const { kid, own } = await readSigningKey(harness);
  const header = { alg: "ES256", kid };
  const stranger = (await generateKeyPair("ES256")).privateKey;
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const hourAgo = Math.floor(Date.now() / 1000) - 3600;
  return {
    "an expired token": await new SignJWT({ ...claims, iat: hourAgo - 3600, exp: hourAgo })
      .setProtectedHeader(header)
      .sign(own),
    "a token with alg none": `${encode({ alg: "none", typ: "JWT" })}.${encode(claims)}.`,
    "a token signed by another key": await new SignJWT(claims).setProtectedHeader(header).sign(stranger),
  };
}

async function readSigningKey({ database }: Harness) {
  const client = new pg.Client({ connectionString: database.superuserUrl });
  await client.connect();
  const { rows } = await client.query("select private_jwk from local_auth.signing_key");
  await client.end();
  const jwk = rows[0].private_jwk;
  return { kid: String(jwk.kid), own: (await importJWK(jwk, "ES256")) as CryptoKey };
}
