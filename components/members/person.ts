import type { WorkspaceRole } from "@/lib/contract/me";
import type { Member } from "@/lib/contract/members";

/** What people call somebody: their name, else their address. */
export function personName({ display_name: name, email }: Pick<Member, "display_name" | "email">): string {
  return name ?? email;
}

/** From the most to the least, with what each may do. */
export const roles: { value: WorkspaceRole; label: string; may: string }[] = [
  { value: "owner", label: "Owner", may: "Everything, and decides who owns." },
  { value: "admin", label: "Admin", may: "Manages people, budgets, prices and all keys." },
  { value: "member", label: "Member", may: "Records costs, makes and manages their own keys." },
  { value: "viewer", label: "Viewer", may: "Sees everything but the audit log, and changes nothing." },
];

/** What a role is called. */
export function roleLabel(role: WorkspaceRole): string {
  return roles.find(({ value }) => value === role)?.label ?? role;
}

/** Whether the first of two roles may more than the second. */
export function isAbove(role: WorkspaceRole, other: WorkspaceRole): boolean {
  const rank = (wanted: WorkspaceRole) => roles.findIndex(({ value }) => value === wanted);
  return rank(role) < rank(other);
}

/** "an admin", "a viewer". */
export function withArticle(role: WorkspaceRole): string {
  return `${/^[ao]/.test(role) ? "an" : "a"} ${role}`;
}

/** The element that the focus goes to when somebody, or an invitation, leaves the page. */
export const membersId = "members";
