// Made by scripts/generate-routes.mjs from the route files; not to be edited.
import type { RouteEntry } from "@/lib/http/route-table";

export const routes: RouteEntry[] = [
  { path: "/callback", load: () => import("@/app/(auth)/callback/route") },
  { path: "/api/[...path]", load: () => import("@/app/api/[...path]/route") },
  { path: "/api/health", load: () => import("@/app/api/health/route") },
  { path: "/api/jobs", load: () => import("@/app/api/jobs/route") },
  { path: "/api/mcp", load: () => import("@/app/api/mcp/route") },
  { path: "/api/mcp", load: () => import("@/app/api/mcp/route") },
  { path: "/api/openapi.json", load: () => import("@/app/api/openapi.json/route") },
  { path: "/api/v1/budgets/status", load: () => import("@/app/api/v1/budgets/status/route") },
  { path: "/api/v1/me", load: () => import("@/app/api/v1/me/route") },
  { path: "/api/v1/messages/batch", load: () => import("@/app/api/v1/messages/batch/route") },
  { path: "/api/v1/messages", load: () => import("@/app/api/v1/messages/route") },
  { path: "/api/v1/projects/[slug]/spend", load: () => import("@/app/api/v1/projects/[slug]/spend/route") },
  { path: "/api/v1/summary/month", load: () => import("@/app/api/v1/summary/month/route") },
  { path: "/api/v1/workspaces/[slug]/activity", load: () => import("@/app/api/v1/workspaces/[slug]/activity/route") },
  { path: "/api/v1/workspaces/[slug]/api-keys/[id]/rotate", load: () => import("@/app/api/v1/workspaces/[slug]/api-keys/[id]/rotate/route") },
  { path: "/api/v1/workspaces/[slug]/api-keys/[id]", load: () => import("@/app/api/v1/workspaces/[slug]/api-keys/[id]/route") },
  { path: "/api/v1/workspaces/[slug]/api-keys", load: () => import("@/app/api/v1/workspaces/[slug]/api-keys/route") },
  { path: "/api/v1/workspaces/[slug]/messages/[id]", load: () => import("@/app/api/v1/workspaces/[slug]/messages/[id]/route") },
  { path: "/api/v1/workspaces/[slug]/metrics", load: () => import("@/app/api/v1/workspaces/[slug]/metrics/route") },
  { path: "/api/v1/workspaces/[slug]/prices", load: () => import("@/app/api/v1/workspaces/[slug]/prices/route") },
  { path: "/api/v1/workspaces/[slug]/subscriptions/[id]", load: () => import("@/app/api/v1/workspaces/[slug]/subscriptions/[id]/route") },
  { path: "/api/v1/workspaces/[slug]/subscriptions", load: () => import("@/app/api/v1/workspaces/[slug]/subscriptions/route") },
  { path: "/api/v1/workspaces/[slug]/unpriced", load: () => import("@/app/api/v1/workspaces/[slug]/unpriced/route") },
  { path: "/auth/v1/[...path]", load: () => import("@/app/auth/v1/[...path]/route") },
];
