import { z } from "zod";

export const workspaceSlug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, "is not a workspace's slug")
  .meta({ description: "Workspace slug." });

export const workspaceParams = z.strictObject({ slug: workspaceSlug });
