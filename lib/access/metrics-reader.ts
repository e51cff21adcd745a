import { env } from "@/lib/env";
import { ServiceError } from "@/lib/errors";
import { requireSettingSecret } from "./credentials";

/**
 * Refuses callers that may not read the metrics. With METRICS_TOKEN set, a caller has to send it; without it, only
 * requests from this machine are allowed.
 * @param isLocal whether the request was made on this machine
 * @throws ServiceError missing_credentials, invalid_credentials, ip_not_allowed
 */
export function requireMetricsReader(authorization: string | null, isLocal: boolean): void {
  const wanted = env().METRICS_TOKEN;
  if (wanted === undefined) {
    if (isLocal) return;
    const description =
      "Metrics are for programs on this machine. Set METRICS_TOKEN to read them from elsewhere.";
    throw new ServiceError("ip_not_allowed", description);
  }
  requireSettingSecret(authorization, wanted, "METRICS_TOKEN");
}
