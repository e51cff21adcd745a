import type { Source } from "@/lib/contract/message";
import type { Permission } from "@/lib/contract/permissions";
import type { Decimal } from "@/lib/ledger/pricing/decimal";

/** The JSON conditions of a key (specification 2.3). First-class fields win over them. */
export type KeyConditions = {
  project_slugs?: string[];
  deny_project_slugs?: string[];
  features?: string[];
  sources?: Source[];
};

/**
 * The holder of a key: anybody with its secret, an assistant (by OAuth), a signed-in member who records by hand, or
 * the service's own environment.
 */
export type KeyKind = "key" | "connection" | "member" | "environment";

/**
 * How a request names its key: by the hash of its secret, by the hash of an access token to it, or by id (a member's, the
 * environment's).
 */
export type KeyLookup = { by: "hash" | "token" | "id"; value: string };

/** A valid access token. `expiresAt` is milliseconds since 1970, `resource` the address it was issued for. */
export type AccessToken = { expiresAt: number; resource: string; clientId: string };

/** A key as the guard sees it. Instants are milliseconds since 1970. */
export type ApiKey = {
  id: string;
  kind: KeyKind;
  workspaceId: string;
  environment: "live" | "test";
  permissions: Permission[];
  /** Slug and id of the one project the key is bound to; wins over the conditions' project lists. */
  project: { slug: string; id: string } | null;
  conditions: KeyConditions;
  monthlyLimit: Decimal | null;
  expiresAt: number | null;
  revoked: boolean;
  lastUsedAt: number | null;
  allowedCidrs: string[];
  rateLimitRpm: number | null;
};

/** What a key has used so far; updated while the calls of a group are admitted. */
export type KeyUsage = {
  /** Recorded with this key in the current UTC month, USD. Loaded only for keys with a limit. */
  spent: Decimal;
  /** Requests admitted in the last 60 seconds, and when the first of them leaves the window. */
  window: { used: number; freesAt: number | null };
};
