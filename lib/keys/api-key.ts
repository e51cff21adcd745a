import type { Permission } from "@/lib/contract/access/permissions";
import type { MessageSource } from "@/lib/contract/ledger/message";
import type { SourceSettings } from "@/lib/contract/sources/sources";
import type { Decimal } from "@/lib/decimal";

/** The JSON conditions of a key. Columns such as `project_id` have precedence over them. */
export type KeyConditions = {
  project_slugs?: string[];
  deny_project_slugs?: string[];
  features?: string[];
  sources?: MessageSource[];
  users?: string[];
};

/**
 * The holder of a key. `key`: anybody with its secret. `connection`: a program (by OAuth). `member`: a signed-in member who records by
 * hand. `environment`: the service's own SVC_API_KEY.
 */
export type KeyKind = "key" | "connection" | "member" | "environment";

/**
 * How a request identifies its key: by the hash of its secret, by the hash of an access token, or by id (for a member or
 * the environment).
 */
export type KeyLookup = { by: "hash" | "token" | "id"; value: string };

/** A valid access token. `expiresAt`: milliseconds since 1970. `resource`: the URL for which it was issued (RFC 8707). */
export type AccessToken = { expiresAt: number; resource: string; clientId: string };

/**
 * The stored settings of a key as a source: how records sent with it are attributed. Has only the settings that were made. Null for a
 * key that is not set up as a source.
 */
export type StoredSource = { [Field in keyof SourceSettings]?: NonNullable<SourceSettings[Field]> };

/** A key as the guard reads it. Times are milliseconds since 1970. */
export type ApiKey = {
  id: string;
  kind: KeyKind;
  workspaceId: string;
  /** The time zone of its workspace. */
  timeZone: string;
  environment: "live" | "test";
  permissions: Permission[];
  /** The only project of the key; it has precedence over the conditions' project lists. */
  project: { slug: string; id: string } | null;
  conditions: KeyConditions;
  monthlyLimit: Decimal | null;
  /** Whether costs past the monthly limit are refused or recorded. */
  onLimit: "refuse" | "record";
  expiresAt: number | null;
  revoked: boolean;
  /** Whether its workspace was deleted, which can be undone for thirty days. */
  workspaceDeleted: boolean;
  lastUsedAt: number | null;
  allowedCidrs: string[];
  rateLimitRpm: number | null;
  source: StoredSource | null;
};

/** The usage of a key so far. It is updated while the calls of a group are admitted. */
export type KeyUsage = {
  /** USD recorded with this key in the current UTC month. Loaded only for keys with a monthly limit. */
  spent: Decimal;
  /** Requests admitted in the last 60 seconds, and when the first of them leaves the window (ms since 1970). */
  window: { used: number; freesAt: number | null };
};
