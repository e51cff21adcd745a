import { z } from "zod";
import { instant } from "@/lib/contract/values/fields";

export const deleteAccountRequest = z
  .strictObject({
    email: z.string().max(320, "must have at most 320 characters").meta({
      description: "The address of your account, to confirm that this is the one.",
    }),
  })
  .meta({ id: "DeleteAccountRequest" });
export type DeleteAccountRequest = z.output<typeof deleteAccountRequest>;

export const deletedAccount = z
  .object({
    deleted_at: instant,
    erased_at: instant.meta({ description: "When it is erased for good, unless you sign in before." }),
  })
  .meta({ id: "DeletedAccount" });
export type DeletedAccount = z.output<typeof deletedAccount>;

const rows = z.array(z.record(z.string(), z.unknown()));

/** What the service stores about a user. Times are in the form that Postgres writes in JSON. */
export const accountExport = z
  .object({
    profile: z.record(z.string(), z.unknown()),
    identities: rows.meta({ description: "How you sign in." }),
    second_factors: rows,
    sessions: rows,
    memberships: rows,
    connections: rows.meta({ description: "The assistants that you connected." }),
    slack_users: rows.meta({ description: "Slack users whose clicks decide as you." }),
    audit: rows.meta({
      description:
        "What you did in the workspaces that you are in: at most 10,000 entries, the newest first.",
    }),
  })
  .meta({ id: "AccountExport" });
export type AccountExport = z.output<typeof accountExport>;
