import type { KeyPermission } from "@/lib/contract/access/permissions";

/** A common purpose of a key with the permissions it needs. */
export type Preset = { id: string; label: string; description: string; permissions: KeyPermission[] };

/** The presets, in the order of the form. */
export const keyPresets: Preset[] = [
  {
    id: "ingest",
    label: "Ingest from CI",
    description: "Records usage. It cannot read anything.",
    permissions: ["log_usage"],
  },
  {
    id: "read",
    label: "Read-only assistant",
    description: "Answers questions about spend and budgets. It cannot record anything.",
    permissions: ["read_summaries"],
  },
  {
    id: "everything",
    label: "Everything",
    description: "Records every type of cost, and reads spend and budgets.",
    permissions: ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"],
  },
];

/** The label of each permission and what it allows. */
export const permissionLabels: Record<KeyPermission, { label: string; description: string }> = {
  log_usage: { label: "Log usage", description: "Usage, batches, and allocations between projects." },
  add_expenses: { label: "Add expenses", description: "Single costs, such as an invoice." },
  manage_subscriptions: { label: "Manage subscriptions", description: "Recurring charges." },
  read_summaries: { label: "Read summaries", description: "Spend by month and by project, and budgets." },
};

/** The preset that has exactly these permissions; undefined when there is none. */
export function presetOf(permissions: readonly KeyPermission[]): Preset | undefined {
  return keyPresets.find(
    (preset) =>
      preset.permissions.length === permissions.length &&
      preset.permissions.every((permission) => permissions.includes(permission)),
  );
}
