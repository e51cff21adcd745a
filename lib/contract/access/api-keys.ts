import { z } from "zod";
import { user } from "@/lib/contract/ledger/attribution";
import { source } from "@/lib/contract/ledger/message";
import { sourceSettings, sourceSettingsChange } from "@/lib/contract/sources/sources";
import {
  day,
  decimalNumber,
  instant,
  positiveDecimal,
  projectSlug,
  text,
  uuid,
} from "@/lib/contract/values/fields";
import { keyPermission } from "./permissions";
import { workspaceSlug } from "./workspace";

/** How many entries each list of a key may have. */
const maxEntries = 100;
const environment = z.enum(["live", "test"]);

/** A list of distinct entries. */
function distinct<Item extends z.ZodType<string>>(item: Item, description: string) {
  return z
    .array(item)
    .max(maxEntries, `must have at most ${maxEntries} entries`)
    .superRefine((entries, context) => {
      for (const [index, entry] of entries.entries()) {
        if (entries.indexOf(entry) < index) {
          context.addIssue({ code: "custom", path: [index], message: "is listed already" });
        }
      }
    })
    .meta({ description, jsonSchema: { uniqueItems: true } });
}

const slug = projectSlug.meta({
  description:
    "A project's slug. The project need not exist yet; the condition applies from its first message on.",
});

const conditionsOf = {
  project_slugs: "The only projects that the key may use. Ignored where `project_id` is set.",
  deny_project_slugs: "Projects that the key may not use. Ignored if `project_slugs` is set.",
  features: "The only features it may record usage under.",
  sources: "The only sources it may record with.",
  users:
    "The only users it may record for, as named in messages; messages without a user are refused, too. It can read only what was recorded for them.",
};

const conditionsChange = z
  .strictObject({
    project_slugs: distinct(slug, conditionsOf.project_slugs).nullable().optional(),
    deny_project_slugs: distinct(slug, conditionsOf.deny_project_slugs).nullable().optional(),
    features: distinct(text(128), conditionsOf.features).nullable().optional(),
    sources: distinct(source, conditionsOf.sources).nullable().optional(),
    users: distinct(user, conditionsOf.users).nullable().optional(),
  })
  .meta({
    description: "A list that is left out stays unchanged; null or an empty list removes the condition.",
  });

const name = text(120).refine((value) => value.trim() !== "", "must not be blank");
const granted = distinct(
  keyPermission,
  "What the key may do. You can grant only permissions that you have.",
).min(1, "must name at least one permission");

/** What happens to costs beyond a key's monthly limit. */
export const onLimit = z.enum(["refuse", "record"]).meta({ id: "OnLimit" });

/** The settings of a key besides name and permissions. Null or a missing field means no restriction. */
const limits = {
  project_id: uuid.nullable().optional().meta({
    description:
      "The one project that it may read and write. It overrides the project lists of `conditions`.",
  }),
  conditions: conditionsChange.nullable().optional(),
  monthly_limit: positiveDecimal("The most it may record in a UTC month, USD.", { orZero: true })
    .nullable()
    .optional(),
  on_limit: onLimit.optional().meta({
    description:
      "What its monthly limit does with costs past it. `refuse`, the default: 402 `monthly_limit_exceeded`. `record`: they are recorded, marked with `over_limit` and alerted; for programs that report calls after they were made. Budgets that block refuse either way.",
  }),
  expires_at: instant.nullable().optional().meta({ description: "The time from which the key is refused." }),
  rate_limit_rpm: z
    .int("must be a whole number")
    .min(1, "must be 1 or more")
    .max(1_000_000, "must be at most 1000000")
    .nullable()
    .optional()
    .meta({ description: "Requests in any 60 seconds." }),
  allowed_cidrs: z
    .array(text(64))
    .max(maxEntries, `must have at most ${maxEntries} entries`)
    .nullable()
    .optional()
    .meta({
      description:
        "Addresses (203.0.113.7) and ranges (203.0.113.0/24, 2001:db8::/32) it may be used from; empty: from anywhere.",
    }),
  source: sourceSettingsChange.nullable().optional(),
};

export const createApiKeyRequest = z
  .strictObject({
    name,
    permissions: granted,
    ...limits,
    environment: environment.default("live").meta({
      description:
        "A key of `test` writes and reads test data only. The environment cannot be changed later.",
    }),
  })
  .meta({ id: "CreateApiKeyRequest" });

/** A merge patch (RFC 7396): a field that is left out stays, null clears, a list is replaced. */
export const editApiKeyRequest = z
  .strictObject({
    name: name.optional(),
    permissions: granted.optional(),
    ...limits,
    raise: z.null().optional().meta({
      description:
        "Null ends a raise of the monthly limit. A raise begins with an approved request (`POST /api/v1/workspaces/{slug}/budget-requests`).",
    }),
  })
  .meta({ id: "EditApiKeyRequest" });

/** A key as the workspace's members see it: everything except its secret. */
export const apiKey = z
  .object({
    id: uuid,
    kind: z.enum(["key", "environment"]).meta({
      description: "`environment`: the service's own SVC_API_KEY, which cannot be changed here.",
    }),
    name: z.string(),
    prefix: z.string().meta({ description: "How its secret begins." }),
    last_four: z.string().meta({ description: "How its secret ends." }),
    permissions: z.array(keyPermission),
    project_id: uuid.nullable(),
    project: z.object({ slug: z.string(), name: z.string() }).nullable(),
    conditions: z
      .object({
        project_slugs: z.array(z.string()).meta({ description: conditionsOf.project_slugs }),
        deny_project_slugs: z.array(z.string()).meta({ description: conditionsOf.deny_project_slugs }),
        features: z.array(z.string()).meta({ description: conditionsOf.features }),
        sources: z.array(source).meta({ description: conditionsOf.sources }),
        users: z.array(z.string()).meta({ description: conditionsOf.users }),
      })
      .meta({ description: "A list is empty if there is no such condition." }),
    monthly_limit: decimalNumber("The usual limit, USD.").nullable(),
    raise: z
      .object({
        amount: decimalNumber("The raised limit, USD."),
        until: day.meta({ description: "Its last day, in UTC." }),
      })
      .nullable()
      .meta({
        description: "A limit that applies instead of the usual one until a day; null without a raise.",
      }),
    on_limit: onLimit.meta({ description: "What the limit does with costs past it." }),
    spent: decimalNumber("Recorded with this key in the current UTC month, USD."),
    expires_at: instant.nullable(),
    rate_limit_rpm: z.int().nullable(),
    allowed_cidrs: z.array(z.string()).meta({ description: "Empty: from anywhere." }),
    source: sourceSettings
      .nullable()
      .meta({ description: "Null for a key that was not set up as a source." }),
    environment,
    status: z.enum(["active", "expired", "revoked"]),
    revoked_at: instant.nullable(),
    rotated_at: instant.nullable().meta({
      description:
        "When the secret was last replaced. If two rotations happen at once, the later secret is valid.",
    }),
    last_used_at: instant.nullable().meta({
      description: "When a request last used its secret, to the minute. Refused requests count, too.",
    }),
    created_at: instant,
    created_by: z
      .object({ id: uuid, name: z.string().nullable(), email: z.string() })
      .nullable()
      .meta({ description: "Null if they are no longer a member." }),
    can_edit: z.boolean().meta({ description: "Whether you may edit, rotate and revoke it." }),
    summary: z.string().meta({ description: "What it may do, in words." }),
  })
  .meta({ id: "ApiKey" });

export const apiKeyWithSecret = apiKey
  .extend({ secret: z.string().meta({ description: "Shown only in this answer." }) })
  .meta({ id: "ApiKeyWithSecret" });

export const apiKeyList = z
  .object({
    api_keys: z.array(apiKey).meta({ description: "The newest first; the revoked ones after them." }),
    can_create: z.boolean().meta({ description: "Whether you may make one." }),
    grantable_permissions: z
      .array(keyPermission)
      .meta({ description: "The permissions that you have and can grant to a key." }),
  })
  .meta({ id: "ApiKeyList" });

export const apiKeyParams = z.strictObject({ slug: workspaceSlug, id: uuid });

export type CreateApiKeyRequest = z.output<typeof createApiKeyRequest>;
export type EditApiKeyRequest = z.output<typeof editApiKeyRequest>;
