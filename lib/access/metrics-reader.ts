import { env } from "@/lib/env";
import { ServiceError } from "@/lib/errors";
import { requireSettingSecret } from "./credentials";

/**
 * Refuses who may not read the metrics: with METRICS_TOKEN set, whoever does not send it; without, every other machine.
 * @param isLocal whether the request was made on this machine
 * @throws ServiceError missing_credentials, invalid_credentials, ip_not_allowed
 */
export function demandMetricsReader(authorization: string | null, isLocal: boolean): void {
  const wanted = env().METRICS_TOKEN;
  if (wanted === undefined) {
    if (isLocal) return;
    const description =
      "Metrics are for programs on this machine. Set METRICS_TOKEN to read them from elsewhere.";
    throw new ServiceError("ip_not_allowed", description);
  }
  requireSettingSecret(authorization, wanted, "METRICS_TOKEN");
}
