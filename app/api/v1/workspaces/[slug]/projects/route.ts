import { workspaceParams } from "@/lib/contract/access/workspace";
import { projectList } from "@/lib/contract/spend/projects";
import { defineRoute, endpoint } from "@/lib/http/define-route";
import { listProjects } from "@/lib/spend/projects/service";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "List the projects",
    description:
      "Each project with its cost this month and its last activity. The figures cover live messages.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: projectList,
    errors: ["not_found"],
    run: ({ principal, params }) => listProjects(principal.claims, params.slug),
  }),
});
