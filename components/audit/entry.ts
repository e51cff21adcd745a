import type { z } from "zod";
import type { auditList } from "@/lib/contract/audit";

/** A line of the audit log, as answered. */
export type AuditEntry = z.output<typeof auditList>["entries"][number];

/** What can be changed, by the log's name for it and people's. */
export const kinds: Record<string, string> = {
  workspace: "Workspace",
  member: "Members",
  invitation: "Invitations",
  project: "Projects",
  api_key: "Keys",
  budget: "Budgets",
  connection: "Assistants",
  price: "Prices",
  repricing: "Corrections",
  subscription: "Subscriptions",
  authenticator: "Authenticators",
  recovery_code: "Recovery codes",
};
