import { isSameSecret } from "./credentials";

// The self-hosted server and the Next bundle in the same process each have a copy of this module.
const globals = globalThis as { [key: symbol]: { token?: string } | undefined };
const slot = Symbol.for("outlay.operator-token");
globals[slot] ??= {};
const shared = globals[slot];

/** The cookie that the link to the outbox sets: the token, for as long as the browser runs. */
export const operatorCookie = "outlay-operator";

/**
 * Sets the secret that a start prints for whoever runs the service: it opens the outbox and reads the metrics. That a request
 * comes from this machine proves nothing: a proxy on it forwards everybody's.
 */
export function announceOperatorToken(token: string): void {
  shared.token = token;
}

/** The token; undefined where no server of ours runs, as on Vercel. */
export function operatorToken(): string | undefined {
  return shared.token;
}

/** Whether a caller sent the token. */
export function isOperatorToken(given: string | null | undefined): boolean {
  return Boolean(shared.token && given) && isSameSecret(given ?? "", shared.token ?? "");
}
