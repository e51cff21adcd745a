import type { ApiKey } from "@/lib/keys/api-key";

/** A key as the guard sees it, which nothing limits but its permissions. */
export const unlimitedKey: ApiKey = {
  id: "key",
  kind: "key",
  workspaceId: "workspace",
  timeZone: "UTC",
  environment: "live",
  permissions: ["log_usage"],
  project: null,
  conditions: {},
  monthlyLimit: null,
  onLimit: "refuse",
  expiresAt: null,
  revoked: false,
  workspaceDeleted: false,
  lastUsedAt: null,
  allowedCidrs: [],
  rateLimitRpm: null,
  source: null,
};
