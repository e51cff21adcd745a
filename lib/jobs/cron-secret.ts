import { createHash, timingSafeEqual } from "node:crypto";
import { env } from "@/lib/env";
import { notFound, ServiceError } from "@/lib/errors";

/**
 * Refuses whoever is not the deployment's scheduler.
 * @throws ServiceError not_found where no CRON_SECRET is set, missing_credentials, invalid_credentials
 */
export function requireCronSecret(authorization: string | null): void {
  const wanted = env().CRON_SECRET;
  if (wanted === undefined) throw notFound();
  const headers = { "WWW-Authenticate": 'Bearer realm="outlay"' };
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? "")?.[1];
  if (token === undefined) {
    throw new ServiceError("missing_credentials", "Send `Authorization: Bearer $CRON_SECRET`.", {}, headers);
  }
  const digest = (text: string) => createHash("sha256").update(text).digest();
  if (timingSafeEqual(digest(token), digest(wanted))) return;
  throw new ServiceError("invalid_credentials", "This is not the deployment's CRON_SECRET.", {}, headers);
}
