import type { z } from "zod";
import type { auditList } from "@/lib/contract/access/audit";

/** An entry of the audit log, as the API answers it. */
export type AuditEntry = z.output<typeof auditList>["entries"][number];

/** The labels of the kinds of things whose changes the log records. */
export const kinds: Record<string, string> = {
  workspace: "Workspace",
  member: "Members",
  invitation: "Invitations",
  project: "Projects",
  api_key: "Keys",
  budget: "Budgets",
  budget_request: "Budget requests",
  alert_channel: "Alert channels",
  slack_link: "Slack users",
  alert_rule: "Alert rules",
  alert_snooze: "Snoozed alerts",
  alert_entry: "Alerts",
  saved_view: "Saved views",
  connection: "Assistants",
  price: "Prices",
  repricing: "Corrections",
  subscription: "Subscriptions",
  closed_month: "Closed months",
  bill: "Bills",
  bill_adjustment: "Bill adjustments",
  provider_account: "Provider accounts",
  provider_limit: "Limits at providers",
  provider_telemetry: "Telemetry of providers",
  person: "People",
  message: "Voided costs",
  bulk_action: "Changes of many costs",
  authenticator: "Authenticators",
  recovery_code: "Recovery codes",
};
