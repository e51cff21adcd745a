import { createHmac, timingSafeEqual } from "node:crypto";

/** How far a request's time may be from now, in seconds, as Slack recommends. */
const toleranceSeconds = 300;

/** The headers with which Slack signs a request. */
export type SlackProof = { signature: string | null; timestamp: string | null };

/**
 * Verifies that Slack signed a request (https://docs.slack.dev/authentication/verifying-requests-from-slack): the signature is `v0=` and
 * the HMAC-SHA256 of `v0:timestamp:body` in hex, with the signing secret of the app, at most five minutes ago.
 * @param body the bytes as they were received
 * @param now milliseconds since 1970
 * @returns the signature in hex; undefined if it does not match or is too old
 */
export function verifySlackSignature(
  body: Uint8Array,
  { signature, timestamp }: SlackProof,
  secret: string,
  now: number,
): string | undefined {
  if (timestamp === null || !/^\d{1,12}$/.test(timestamp)) return undefined;
  const [, hex] = /^v0=([0-9a-f]{64})$/.exec(signature ?? "") ?? [];
  if (hex === undefined || Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds) return undefined;
  const expected = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(hex, "hex")) ? hex : undefined;
}
