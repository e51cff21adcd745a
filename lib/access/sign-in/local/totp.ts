import { Secret, TOTP } from "otpauth";
import { renderSVG } from "uqr";

/** The parameters that every authenticator app assumes (RFC 6238 with its defaults). */
const shape = { algorithm: "SHA1", digits: 6, period: 30 } as const;

/** What an authenticator app needs: the secret in base32, as a URI, and that URI as a QR code. */
export type Enrolment = { secret: string; uri: string; qrCode: string };

/** Generates a secret of 160 bits, as RFC 4226 section 4 recommends. @param issuer the name that the app shows */
export function makeEnrolment(issuer: string, account: string): Enrolment {
  const secret = new Secret({ size: 20 });
  const uri = new TOTP({ ...shape, issuer, label: account, secret }).toString();
  // Named colours: the Supabase client puts the picture into a data URL, which a `#` would truncate.
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
 * Finds the 30-second step of a code: the present one, the one before or the one after (RFC 6238 section 5.2). Codes are
 * compared in constant time.
 * @param nowMs the database's Unix time in milliseconds, so that all processes agree
 * @returns undefined for a wrong code
 */
export function stepOf(code: string, secret: string, nowMs: number): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined;
  const totp = new TOTP({ ...shape, secret: Secret.fromBase32(secret) });
  const delta = totp.validate({ token: code, timestamp: nowMs, window: 1 });
  return delta === null ? undefined : Math.floor(nowMs / 1000 / shape.period) + delta;
}
