import { env } from "@/lib/env";
import { notFound, ServiceError } from "@/lib/errors";
import { challenge } from "@/lib/keys/decide";
import { bearerToken, isSameSecret } from "./credentials";

/**
 * Refuses whoever is not the deployment's scheduler.
 * @throws ServiceError not_found where no CRON_SECRET is set, missing_credentials, invalid_credentials
 */
export function requireCronSecret(authorization: string | null): void {
  const wanted = env().CRON_SECRET;
  if (wanted === undefined) throw notFound();
  const token = bearerToken(authorization);
  if (token === undefined) {
    throw new ServiceError(
      "missing_credentials",
      "Send `Authorization: Bearer $CRON_SECRET`.",
      {},
      challenge,
    );
  }
  if (isSameSecret(token, wanted)) return;
  throw new ServiceError("invalid_credentials", "This is not the deployment's CRON_SECRET.", {}, challenge);
}
