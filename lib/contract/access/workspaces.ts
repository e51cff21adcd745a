import { z } from "zod";
import { text } from "@/lib/contract/values/fields";
import { timeZone } from "@/lib/contract/values/time-zone";
import { membership } from "./me";
import { member } from "./members";

const reservedHint = "Letters, digits and dashes; some names are reserved for the service's own pages.";

/** The slug of a new workspace. `workspaceSlug` is the slug of an existing one. */
const newSlug = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9-]{0,62}$/,
    "must have 1 to 63 lower-case letters, digits or dashes, and begin with a letter or digit",
  );

const name = text(120, "What people read.");
const description = text(1000).nullable();
const baseCurrency = z
  .string()
  .regex(/^[A-Z]{3}$/, "must be an ISO 4217 code in capitals, like USD")
  .meta({ description: "ISO 4217. The workspace's display currency; costs are stored in USD." });

export const createWorkspaceRequest = z
  .strictObject({
    name,
    slug: newSlug.optional().meta({
      description: `The workspace's address, which cannot be changed. Left out: derived from the name. ${reservedHint}`,
    }),
    description: description.default(null),
    base_currency: baseCurrency.default("USD"),
    time_zone: timeZone.default("UTC").meta({
      description: "The time zone whose days, weeks and months its figures are of, like Europe/Berlin.",
    }),
  })
  .meta({ id: "CreateWorkspaceRequest" });
export type CreateWorkspaceRequest = z.output<typeof createWorkspaceRequest>;

export const updateWorkspaceRequest = z
  .strictObject({
    name: name.optional(),
    description: description.optional().meta({ description: "Null clears it." }),
    base_currency: baseCurrency.optional(),
    time_zone: timeZone.optional().meta({
      description:
        "The time zone whose days, weeks and months its figures are of. The days of all costs are summed anew; until that is done, `next_time_zone` has it, and figures stay as they were.",
    }),
    require_mfa: z.boolean().optional().meta({
      description:
        "Whether members need two-factor authentication. Turning it on needs a session that gave a code, and disconnects assistants that signed in before. API keys are not affected.",
    }),
  })
  .meta({ id: "UpdateWorkspaceRequest" });
export type UpdateWorkspaceRequest = z.output<typeof updateWorkspaceRequest>;

export const deleteWorkspaceRequest = z
  .strictObject({
    name: z.string().max(200, "must have at most 200 characters").meta({
      description: "The workspace's name, exactly, to confirm that this is the one.",
    }),
  })
  .meta({ id: "DeleteWorkspaceRequest" });
export type DeleteWorkspaceRequest = z.output<typeof deleteWorkspaceRequest>;

/** A workspace with all its members. */
export const organization = z
  .object({
    workspace: membership,
    members: z.array(member).meta({ description: "Owners first, then by role and name." }),
    counts: z.object({
      members: z.int(),
      projects: z.int().meta({ description: "Projects that are not archived." }),
      api_keys: z.int().meta({ description: "Keys that are not revoked." }),
      budgets: z.int(),
      connections: z.int(),
    }),
  })
  .meta({ id: "Organization" });
