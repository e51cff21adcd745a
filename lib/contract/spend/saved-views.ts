import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { instant, text, uuid } from "@/lib/contract/values/fields";

/** The most views of one person in one workspace. */
export const maxViewsEach = 100;

/** The most characters of a view's query. */
const maxQueryLength = 4_000;

const viewQuery = z
  .string()
  .max(maxQueryLength, `must have at most ${maxQueryLength} characters`)
  .regex(/^[\x21-\x7e]*$/, "must be the query of an address, percent-encoded")
  .refine((value) => !value.startsWith("?") && !value.includes("#"), "must not contain ? or #")
  .meta({ description: "The query of the Explore page's address, without its question mark." });

export const savedView = z
  .object({
    id: uuid,
    name: z.string(),
    query: z.string(),
    is_shared: z
      .boolean()
      .meta({ description: "Whether all members see it. Otherwise only the person who saved it does." }),
    created_by: z.object({ user_id: uuid, display_name: z.string().nullable() }),
    created_at: instant,
    can_delete: z.boolean().meta({ description: "Whether the caller may delete it." }),
  })
  .meta({ id: "SavedView" });
export type SavedView = z.output<typeof savedView>;

export const savedViewList = z.object({ views: z.array(savedView) }).meta({ id: "SavedViewList" });

export const saveViewRequest = z
  .strictObject({
    name: text(120, "What it is called.").refine((value) => value.trim() !== "", "must not be blank"),
    query: viewQuery,
    is_shared: z.boolean().default(false),
  })
  .meta({ id: "SaveViewRequest" });
export type SaveViewRequest = z.output<typeof saveViewRequest>;

export const savedViewParams = z.strictObject({ slug: workspaceSlug, id: uuid });
