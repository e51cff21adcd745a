import { z } from "zod";
import { instant, text, uuid } from "@/lib/contract/values/fields";
import { type Locale, locales } from "@/lib/contract/values/locales";

/**
 * A member's role in a workspace: viewers read, members manage their own keys, admins and owners manage everything.
 */
export const workspaceRole = z.enum(["owner", "admin", "member", "viewer"]).meta({ id: "WorkspaceRole" });

const locale = z.enum(locales as [Locale, ...Locale[]]);

/** The currency in which pages show amounts: USD, the workspace's own, or both. */
const shownCurrency = z.enum(["usd", "base", "both"]).meta({ id: "ShownCurrency" });

/** A workspace as one of its members sees it. */
export const membership = z
  .object({
    id: uuid,
    name: z.string(),
    slug: z.string(),
    type: z.enum(["personal", "team", "demo"]),
    description: z.string().nullable(),
    base_currency: z.string().meta({ description: "ISO 4217." }),
    time_zone: z.string().meta({
      description: "The time zone whose days, weeks and months its figures are of, like Europe/Berlin.",
    }),
    next_time_zone: z.string().nullable().meta({
      description: "The time zone for which its days are being summed anew; null: none.",
    }),
    require_mfa: z.boolean().meta({
      description: "Whether it requires two-factor authentication of its members' sessions.",
    }),
    role: workspaceRole.meta({ description: "The user's own role in it." }),
  })
  .meta({ id: "Membership" });

/** A workspace that was deleted and can still be restored, as one of its members sees it. */
export const deletedWorkspace = z
  .object({
    slug: z.string(),
    name: z.string(),
    role: workspaceRole.meta({ description: "The user's own role in it. An owner can undo the deletion." }),
    deleted_at: instant,
    deleted_by: z.string().nullable().meta({ description: "The name or address of who deleted it." }),
    erased_at: instant.meta({
      description: "When it is erased for good, unless an owner undoes the deletion.",
    }),
  })
  .meta({ id: "DeletedWorkspace" });
export type DeletedWorkspace = z.infer<typeof deletedWorkspace>;

/** The signed-in user, with their workspaces. */
export const currentUser = z
  .object({
    user: z.object({ id: uuid, email: z.string() }),
    profile: z.object({
      id: uuid,
      email: z.string(),
      display_name: z.string().nullable(),
      avatar_url: z.string().nullable(),
      default_workspace_id: uuid.nullable(),
      locale: locale.nullable().meta({
        description:
          "The locale in which pages write numbers and dates; null: the browser's. Answers of the API do not depend on it.",
      }),
      shown_currency: shownCurrency.meta({
        description:
          "The currency in which pages show amounts: `usd`, `base` (the workspace's base currency, converted), or `both`.",
      }),
    }),
    workspaces: z
      .array(membership)
      .meta({ description: "The user's workspaces, the default one first, then by name." }),
    locked_workspaces: z.array(z.object({ slug: z.string(), name: z.string() })).meta({
      description:
        "The user's workspaces that require two-factor authentication, when this session gave no code. Nothing else of them is shown.",
    }),
    deleted_workspaces: z.array(deletedWorkspace).meta({
      description:
        "The user's workspaces that were deleted within the last thirty days. Nothing else of them is shown.",
    }),
  })
  .meta({ id: "CurrentUser" });

export const updateMeRequest = z
  .strictObject({
    display_name: text(120).nullable().optional().meta({ description: "Null: none." }),
    avatar_url: z
      .url({ protocol: /^https$/, error: "must be a URL that begins with https://" })
      .max(2048, "must have at most 2048 characters")
      .nullable()
      .optional()
      .meta({ description: "Null: none." }),
    default_workspace_id: uuid
      .nullable()
      .optional()
      .meta({ description: "One of your workspaces, where you land after signing in." }),
    locale: locale.nullable().optional().meta({
      description: "The locale in which pages write numbers and dates, like `de-DE`. Null: the browser's.",
    }),
    shown_currency: shownCurrency.optional().meta({
      description:
        "The currency in which pages show amounts: `usd`, `base` (the workspace's base currency, converted at each day's rate), or `both`.",
    }),
  })
  .meta({ id: "UpdateMeRequest" });
export type UpdateMeRequest = z.output<typeof updateMeRequest>;

/** A member's role. */
export type WorkspaceRole = z.infer<typeof workspaceRole>;
export type Membership = z.infer<typeof membership>;
export type CurrentUser = z.infer<typeof currentUser>;
