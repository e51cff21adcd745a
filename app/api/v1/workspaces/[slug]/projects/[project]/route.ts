import { project, projectParams, updateProjectRequest } from "@/lib/contract/spend/projects";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { updateProject } from "@/lib/spend/projects/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  PATCH: endpoint({
    summary: "Rename or archive a project",
    description:
      "An archived project is not offered where a project is chosen. Nothing else changes: it counts in every sum and budget, and messages to it are recorded without restoring it.",
    auth: "user",
    role: "member",
    params: projectParams,
    body: updateProjectRequest,
    response: project,
    errors: ["not_found", "permission_denied"],
    run: ({ principal, params, body }) => updateProject(principal.claims, params.slug, params.project, body),
  }),
});
