import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";

const prefix = "svc_live_";
const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const randomLength = 32;
const checksumLength = 6;
const shape = new RegExp(`^${prefix}[0-9A-Za-z]{${randomLength + checksumLength}}$`);

/** A new secret: `svc_live_`, 32 random base62 characters (190 bits) and a 6-character checksum. It is never stored. */
export function generateSecret(): string {
  const body = Array.from({ length: randomLength }, () => base62[randomInt(base62.length)]).join("");
  return prefix + body + checksum(body);
}

/** Whether a token has the form of a secret. A mistyped or truncated one fails its checksum and costs no query. */
export function isWellFormedSecret(token: string): boolean {
  if (!shape.test(token)) return false;
  const body = token.slice(prefix.length, -checksumLength);
  return checksum(body) === token.slice(-checksumLength);
}

/** The SHA-256 of a secret in hex, the only form that is stored. 190 random bits need no salt and no slow hash. */
export function hashSecret(secret: string): string {
  return hash("sha256", secret, "hex");
}

/** The part of a secret that lists show. It is enough to recognise the secret and of no use to an attacker. */
export function secretHint(secret: string): { prefix: string; last_four: string } {
  return { prefix: secret.slice(0, prefix.length + 4), last_four: secret.slice(-4) };
}

/** The CRC-32 of the body in base62. It detects typing errors only. */
function checksum(body: string): string {
  let rest = crc32(prefix + body);
  let text = "";
  for (let place = 0; place < checksumLength; place += 1) {
    text += base62[rest % base62.length];
    rest = Math.floor(rest / base62.length);
  }
  return text;
}
