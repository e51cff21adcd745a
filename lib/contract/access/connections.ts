import { z } from "zod";
import { decimalNumber, instant, uuid } from "@/lib/contract/values/fields";
import { permission } from "./permissions";
import { workspaceSlug } from "./workspace";

export const connectionParams = z.strictObject({ slug: workspaceSlug, id: uuid });

/** A program that a member connected to the workspace with OAuth. */
export const connection = z
  .object({
    id: uuid.meta({ description: "Also the id of the key that its records are attributed to." }),
    client: z.object({
      id: z.string(),
      name: z.string().meta({ description: "The name that the program gives itself." }),
      uri: z.string().nullable(),
      host: z
        .string()
        .nullable()
        .meta({ description: "The host that verifies the name; null if it is not verified." }),
      redirect_host: z.string().meta({ description: "The host that the member was last redirected to." }),
    }),
    user: z.object({ id: uuid, email: z.string(), display_name: z.string().nullable() }),
    permissions: z.array(permission),
    project: z
      .object({ id: uuid, slug: z.string(), name: z.string() })
      .nullable()
      .meta({ description: "The only project it may use; null for all." }),
    monthly_limit: decimalNumber("USD it may record in a UTC month.").nullable(),
    spent: decimalNumber("USD it recorded in the current UTC month."),
    created_at: instant,
    last_used_at: instant.nullable(),
    can_revoke: z.boolean().meta({ description: "Whether the signed-in user may revoke it." }),
  })
  .meta({ id: "Connection" });

export const connectionList = z.object({ connections: z.array(connection) }).meta({ id: "ConnectionList" });

export const revokedConnection = z
  .object({ id: uuid, revoked: z.literal(true) })
  .meta({ id: "RevokedConnection" });
