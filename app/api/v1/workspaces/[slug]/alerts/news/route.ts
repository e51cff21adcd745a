import { readNews } from "@/lib/alerts/news/service";
import { workspaceParams } from "@/lib/contract/access/workspace";
import { alertNews } from "@/lib/contract/alerts/alert-news";
import { defineRoute, endpoint } from "@/lib/http/define-route";

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = defineRoute({
  GET: endpoint({
    summary: "Read which alerts are new to you",
    description: "The newest alerts in words, and how many you have not seen. The dashboard's bell shows it.",
    auth: "user",
    role: "viewer",
    params: workspaceParams,
    response: alertNews,
    errors: ["not_found"],
    run: ({ principal, params }) => readNews(principal.claims, params.slug),
  }),
});
