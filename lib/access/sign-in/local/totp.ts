import { Secret, TOTP } from "otpauth";
import { renderSVG } from "uqr";

/** What every authenticator app takes for granted (RFC 6238 with its defaults). */
const shape = { algorithm: "SHA1", digits: 6, period: 30 } as const;

/** What somebody's authenticator app is given: the secret in base32, as an address, and that as a picture. */
export type Enrolment = { secret: string; uri: string; qrCode: string };

/** Makes a new secret of 160 bits, the length that RFC 4226 recommends. @param issuer whom the app names it for */
export function makeEnrolment(issuer: string, account: string): Enrolment {
  const secret = new Secret({ size: 20 });
  const uri = new TOTP({ ...shape, issuer, label: account, secret }).toString();
  // Colours by name: the Supabase client makes a data address of the picture, which a `#` would end.
  const qrCode = renderSVG(uri, {
    ecc: "M",
    border: 2,
    pixelSize: 4,
    blackColor: "black",
    whiteColor: "white",
  });
  return { secret: secret.base32, uri, qrCode };
}

/**
 * The 30-second step that a code is of: this one, the one before or the one after (RFC 6238, section 5.2). Compared in
 * constant time.
 * @param nowMs Unix time in milliseconds, the database's, so that all processes agree
 * @returns undefined for a code of no such step
 */
export function stepOf(code: string, secret: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const totp = new TOTP({ ...shape, secret: Secret.fromBase32(secret) });
  const delta = totp.validate({ token: code, timestamp: nowMs, window: 1 });
  return delta === null ? undefined : Math.floor(nowMs / 1000 / shape.period) + delta;
}
