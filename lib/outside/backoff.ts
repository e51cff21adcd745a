const firstDelayMs = 5_000;
const factor = 3;
const longestDelayMs = 8 * 3_600_000;

/**
 * How long to wait after a failed attempt: 5 s, 15 s, 45 s and so on, at most 8 hours, each a quarter more or less at
 * random, so that what failed together is not tried again together.
 * @param attempts attempts so far, 1 or more
 * @param random from 0 to 1
 */
export function retryDelayMs(attempts: number, random: number = Math.random()): number {
  const delay = Math.min(firstDelayMs * factor ** (attempts - 1), longestDelayMs);
  return Math.round(delay * (0.75 + random / 2));
}

/** Longer waits are not granted: deliveries end after three days. */
const longestWaitMs = 24 * 3_600_000;

/**
 * Reads a Retry-After header (RFC 9110, 10.2.3): seconds, also with a fraction as Discord sends them, or a date.
 * @param now milliseconds since 1970
 * @returns milliseconds; undefined where there is none
 */
export function readRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const isDate = /^[A-Z][a-z]{2}, .* GMT$/.test(text);
  const wait = isDate
    ? Date.parse(text) - now
    : /^\d{1,9}(\.\d+)?$/.test(text)
      ? Number(text) * 1000
      : Number.NaN;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(0, Math.ceil(wait)), longestWaitMs);
}
