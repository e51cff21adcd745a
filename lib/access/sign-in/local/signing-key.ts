import { calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from "jose";
import { databaseUrls } from "@/lib/db/pool";
import { keepSigningKey } from "./sign-in-queries";

/** The key pair of the local sign-in. It is stored in the database, and all processes sign with the same one. */
export type SigningKey = {
  kid: string;
  privateKey: CryptoKey;
  /** The public half, as `/.well-known/jwks.json` shows it. */
  publicJwk: JWK;
};

let cached: { url: string; key: Promise<SigningKey> } | undefined;

/** The signing key. It is created when first needed, and cached while this process uses the same database. */
export function signingKey(): Promise<SigningKey> {
  const { url } = databaseUrls();
  if (cached?.url === url) return cached.key;
  const entry = { url, key: load() };
  cached = entry;
  // Does not cache a failure: the database may have been unreachable for a moment.
  entry.key.catch(() => {
    if (cached === entry) cached = undefined;
  });
  return entry.key;
}

async function load(): Promise<SigningKey> {
  const kept = (await keepSigningKey<JWK>(null)) ?? (await keepSigningKey<JWK>(await makeJwk()));
  if (!kept?.kid) throw new Error("The local sign-in has no signing key.");
  const { d: _, ...publicPart } = kept;
  return {
    kid: kept.kid,
    privateKey: (await importJWK(kept, "ES256")) as CryptoKey,
    publicJwk: { ...publicPart, alg: "ES256", use: "sig", key_ops: ["verify"] },
  };
}

async function makeJwk(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: await calculateJwkThumbprint(jwk) };
}
