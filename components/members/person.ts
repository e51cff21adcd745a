import type { WorkspaceRole } from "@/lib/contract/access/me";
import type { Member } from "@/lib/contract/access/members";

/** A user's display name, or their e-mail address when they have none. */
export function personName({ display_name: name, email }: Pick<Member, "display_name" | "email">): string {
  return name ?? email;
}

/** The roles with what each may do, from the highest to the lowest. */
export const roles: { value: WorkspaceRole; label: string; description: string }[] = [
  { value: "owner", label: "Owner", description: "Can do everything, including choosing the owners." },
  { value: "admin", label: "Admin", description: "Manages members, budgets, prices and all keys." },
  { value: "member", label: "Member", description: "Records costs, and creates and manages their own keys." },
  {
    value: "viewer",
    label: "Viewer",
    description: "Sees everything except the audit log, and changes nothing.",
  },
];

/** The label of a role: "Admin". */
export function roleLabel(role: WorkspaceRole): string {
  return roles.find(({ value }) => value === role)?.label ?? role;
}

/** Whether a role is higher than another one. */
export function isAbove(role: WorkspaceRole, other: WorkspaceRole): boolean {
  const rank = (wanted: WorkspaceRole) => roles.findIndex(({ value }) => value === wanted);
  return rank(role) < rank(other);
}

/** A role with its article: "an admin", "a viewer". */
export function withArticle(role: WorkspaceRole): string {
  return `${/^[ao]/.test(role) ? "an" : "a"} ${role}`;
}

/** Id of the element that gets the focus when a member or an invitation leaves the page. */
export const membersId = "members";
