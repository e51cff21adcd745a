import type { Permission } from "@/lib/contract/permissions";

/** A usual purpose of a key, and what it takes. */
export type Preset = { id: string; label: string; description: string; permissions: Permission[] };

/** What most keys are for. */
export const presets: Preset[] = [
  {
    id: "ingest",
    label: "Ingest from CI",
    description: "Records usage, and reads nothing.",
    permissions: ["log_usage"],
  },
  {
    id: "read",
    label: "Read-only assistant",
    description: "Answers questions about spend and budgets, and records nothing.",
    permissions: ["read_summaries"],
  },
  {
    id: "everything",
    label: "Everything",
    description: "Records every kind of cost and reads all of it.",
    permissions: ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"],
  },
];

/** What each permission lets a key do. */
export const permissionWords: Record<Permission, { label: string; description: string }> = {
  log_usage: { label: "Log usage", description: "Usage, batches, and moving cost between projects." },
  add_expenses: { label: "Add expenses", description: "Single costs, such as an invoice." },
  manage_subscriptions: { label: "Manage subscriptions", description: "Charges that come back." },
  read_summaries: { label: "Read summaries", description: "Spend of months and projects, and budgets." },
};

/** The preset that permissions are those of; undefined for a choice of one's own. */
export function presetOf(permissions: readonly Permission[]): Preset | undefined {
  return presets.find(
    (preset) =>
      preset.permissions.length === permissions.length &&
      preset.permissions.every((permission) => permissions.includes(permission)),
  );
}
