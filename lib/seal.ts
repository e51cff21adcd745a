import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { env } from "@/lib/env";

// The self-hosted server and the Next bundle in the same process each have a copy of this module.
const globals = globalThis as { [key: symbol]: { own?: string } | undefined };
const slot = Symbol.for("outlay.sealing-key");
globals[slot] ??= {};
const shared = globals[slot];

const algorithm = "aes-256-gcm";
const keyBytes = 32;
const ivBytes = 12;
const tagBytes = 16;

/** A secret cannot be encrypted or decrypted. The message says why, and does not contain the secret. */
export class SealError extends Error {
  override name = "SealError";
}

/** A new sealing key: 32 random bytes in base64. */
export const newSealingKey = (): string => randomBytes(keyBytes).toString("base64");

/** Sets the key of an embedded database. It decrypts secrets that were sealed with it, even if SEALING_KEYS names other keys. */
export function announceSealingKey(key: string): void {
  shared.own = key;
}

/** The key of an embedded database, to pass it to other processes of the service. */
export function ownSealingKey(): string | undefined {
  return shared.own;
}

/** The keys of this process. The first one encrypts, all of them decrypt. */
const knownKeys = (): string[] => [...env().SEALING_KEYS, ...(shared.own === undefined ? [] : [shared.own])];

/** A key with its name, which is the beginning of its SHA-256. */
function named(text: string): { name: string; key: Buffer } {
  const key = Buffer.from(text, "base64");
  return { name: createHash("sha256").update(key).digest("hex").slice(0, 8), key };
}

/** Whether there is a key to seal with. */
export const canSeal = (): boolean => knownKeys().length > 0;

/**
 * Encrypts a secret for the database (AES-256-GCM), so that a copy of the database does not reveal it.
 * @param subject what it belongs to, with the ids of its row. It can be decrypted only for the same subject
 * @param keys in base64; the first one encrypts
 * @throws SealError if there is no key
 */
export function seal(secret: string, subject: string, [first]: readonly string[] = knownKeys()): string {
  if (first === undefined) throw new SealError("There is no key to seal with: set SEALING_KEYS.");
  const { name, key } = named(first);
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, key, iv, { authTagLength: tagBytes }).setAAD(Buffer.from(subject));
  const sealed = Buffer.concat([iv, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
  return `1.${name}.${sealed.toString("base64url")}`;
}

/**
 * Decrypts a secret.
 * @param keys in base64; one of them must have encrypted it
 * @returns the secret; `isOld`: it was encrypted with another key than the first one
 * @throws SealError if its key is missing, or if it was encrypted for another subject or changed
 */
export function unseal(
  sealed: string,
  subject: string,
  keys: readonly string[] = knownKeys(),
): { secret: string; isOld: boolean } {
  const [version, name = "", text = ""] = sealed.split(".");
  const [first, ...others] = keys.map(named);
  const found = [first, ...others].find((each) => each?.name === name);
  if (version !== "1" || !found)
    throw new SealError(
      `It was sealed with the key ${name.slice(0, 8)}, which is not in SEALING_KEYS. Add that key behind the first one.`,
    );
  const bytes = Buffer.from(text, "base64url");
  const [iv, body, tag] = [
    bytes.subarray(0, ivBytes),
    bytes.subarray(ivBytes, -tagBytes),
    bytes.subarray(-tagBytes),
  ];
  try {
    const opened = createDecipheriv(algorithm, found.key, iv, { authTagLength: tagBytes })
      .setAAD(Buffer.from(subject))
      .setAuthTag(tag);
    const secret = Buffer.concat([opened.update(body), opened.final()]).toString("utf8");
    return { secret, isOld: found !== first };
  } catch {
    throw new SealError("It was changed, or sealed for something else.");
  }
}
