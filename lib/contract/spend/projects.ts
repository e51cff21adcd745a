import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { day, decimalNumber, instant, projectSlug, text, uuid } from "@/lib/contract/values/fields";

/** A project with its live spend. */
export const project = z
  .object({
    id: uuid,
    slug: z.string(),
    name: z.string(),
    archived_at: instant.nullable(),
    created_at: instant,
    month_usd: decimalNumber("Spent in the current month of the workspace up to today, USD."),
    month_message_count: z
      .int()
      .meta({ description: "Messages of the current month of the workspace up to today." }),
    message_count: z.int().meta({ description: "Messages ever." }),
    last_activity_on: day.nullable().meta({
      description: "The latest UTC day with costs, today at most; null where there are none.",
    }),
  })
  .meta({ id: "Project" });

export type Project = z.output<typeof project>;

export const projectList = z
  .object({
    projects: z.array(project).meta({ description: "Active projects first, then archived ones; by name." }),
  })
  .meta({ id: "ProjectList" });

export const projectParams = z.strictObject({ slug: workspaceSlug, project: projectSlug });

export const updateProjectRequest = z
  .strictObject({
    name: text(120).optional(),
    archived: z.boolean().optional().meta({
      description:
        "An archived project is not offered in lists to choose from. It counts in every total, and messages to it are recorded.",
    }),
  })
  .meta({ id: "UpdateProjectRequest" });
export type UpdateProjectRequest = z.output<typeof updateProjectRequest>;
