import { challenge } from "@/lib/access/credentials";
import { env } from "@/lib/env";
import { ServiceError } from "@/lib/errors";
import { bearerToken, requireSettingSecret } from "./credentials";
import { isOperatorToken } from "./operator-token";

/**
 * Refuses callers that may not read the metrics: a caller has to send METRICS_TOKEN or, where that is not set, the token of
 * the link to the outbox that the start printed.
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
