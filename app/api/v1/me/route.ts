import { readCurrentUser, updateCurrentUser } from "@/lib/access/workspaces/service";
import { currentUser, updateMeRequest } from "@/lib/contract/access/me";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Who am I?",
    description:
      "The signed-in user, their profile and the workspaces they belong to, with their role in each.",
    auth: "user",
    response: currentUser,
    errors: ["account_deleted"],
    run: ({ principal }) => readCurrentUser(principal.claims),
  }),
  PATCH: endpoint({
    summary: "Change my profile",
    description:
      "Your name, picture, default workspace, and how pages show figures: the range, the locale and the currency. Fields that are left out stay unchanged.",
    auth: "user",
    body: updateMeRequest,
    response: currentUser,
    errors: ["account_deleted"],
    run: ({ principal, body }) => updateCurrentUser(principal.claims, body),
  }),
});
