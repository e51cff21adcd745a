import { env } from "@/lib/env";
import { notFound, ServiceError } from "@/lib/errors";
import { bearerToken, challenge, isSameSecret } from "./credentials";

// The self-hosted server and the Next bundle in the same process each have a copy of this module.
const globals = globalThis as { [key: symbol]: { token?: string } | undefined };
const slot = Symbol.for("outlay.operator-token");
globals[slot] ??= {};
const shared = globals[slot];

/** The cookie that the link to the outbox sets: the token, for as long as the browser runs. */
export const operatorCookie = "outlay-operator";

/**
 * Sets the secret that the service prints for its operator when it starts. It opens the outbox and allows reading the metrics. The
 * address of this machine is no proof of being the operator, because a local proxy forwards requests of anybody.
 */
export function announceOperatorToken(token: string): void {
  shared.token = token;
}

/** The token; undefined without the self-hosted server, as on Vercel. */
export function operatorToken(): string | undefined {
  return shared.token;
}

/** Whether a caller sent the token. */
export function isOperatorToken(given: string | null | undefined): boolean {
  return Boolean(shared.token && given) && isSameSecret(given ?? "", shared.token ?? "");
}

/**
 * Refuses every caller but the deployment's scheduler.
 * @throws ServiceError not_found if no CRON_SECRET is set, missing_credentials, invalid_credentials
 */
export function requireCronSecret(authorization: string | null): void {
  const wanted = env().CRON_SECRET;
  if (wanted === undefined) throw notFound();
  requireSettingSecret(authorization, wanted, "CRON_SECRET");
}

/**
 * Refuses callers that may not read the metrics: a caller has to send METRICS_TOKEN or, if that is not set, the token in the
 * outbox link that the service printed when it started.
 * @throws ServiceError missing_credentials, invalid_credentials
 */
export function requireMetricsReader(authorization: string | null): void {
  const wanted = env().METRICS_TOKEN;
  if (wanted !== undefined) requireSettingSecret(authorization, wanted, "METRICS_TOKEN");
  else if (!isOperatorToken(bearerToken(authorization))) {
    throw new ServiceError(
      "missing_credentials",
      "Set METRICS_TOKEN and send it as `Authorization: Bearer …`, or send the token of the link that the start printed.",
      {},
      challenge,
    );
  }
}

/**
 * Refuses a request that does not send the secret of a setting.
 * @param wanted the setting's value. @param setting its name, for the error text
 * @throws ServiceError missing_credentials, invalid_credentials
 */
function requireSettingSecret(authorization: string | null, wanted: string, setting: string): void {
  const token = bearerToken(authorization);
  if (token === undefined) {
    const remedy = `Send \`Authorization: Bearer $${setting}\`.`;
    throw new ServiceError("missing_credentials", remedy, {}, challenge);
  }
  if (isSameSecret(token, wanted)) return;
  throw new ServiceError("invalid_credentials", `This is not the service's ${setting}.`, {}, challenge);
}
