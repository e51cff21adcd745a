import { env } from "@/lib/env";
import { notFound } from "@/lib/errors";
import { requireSettingSecret } from "./credentials";

/**
 * Refuses every caller but the deployment's scheduler.
 * @throws ServiceError not_found where no CRON_SECRET is set, missing_credentials, invalid_credentials
 */
export function requireCronSecret(authorization: string | null): void {
  const wanted = env().CRON_SECRET;
  if (wanted === undefined) throw notFound();
  requireSettingSecret(authorization, wanted, "CRON_SECRET");
}
