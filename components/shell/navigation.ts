import {
  Activity,
  Bell,
  ChartColumnStacked,
  Download,
  Folder,
  Gauge,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  PiggyBank,
  Plug,
  Radio,
  Scale,
  Settings,
  Upload,
  Wallet,
} from "lucide-react";

/**
 * A page of every workspace. `segment` is its path below the workspace's; empty for the overview. `also`: another path, whose pages
 * belong to it.
 */
export type NavEntry = { segment: string; label: string; icon: LucideIcon; also?: string };

/** The pages of a workspace, in the order the sidebar and the command palette show them. */
export const navigation: NavEntry[] = [
  { segment: "", label: "Overview", icon: LayoutDashboard },
  { segment: "activity", label: "Activity", icon: Activity },
  { segment: "explore", label: "Explore", icon: ChartColumnStacked },
  { segment: "projects", label: "Projects", icon: Folder, also: "spend" },
  { segment: "keys", label: "Keys", icon: KeyRound },
  { segment: "sources", label: "Sources", icon: Radio },
  { segment: "budgets", label: "Budgets", icon: Gauge },
  { segment: "alerts", label: "Alerts", icon: Bell },
  { segment: "reconciliation", label: "Reconciliation", icon: Scale },
  { segment: "recommendations", label: "Recommendations", icon: PiggyBank },
  { segment: "connections", label: "Connections", icon: Plug },
  { segment: "settings", label: "Settings", icon: Settings },
];

/** Further pages that the command palette finds, by their content. */
export const subpages: NavEntry[] = [
  { segment: "activity/import", label: "Import a file", icon: Upload },
  { segment: "activity?period=all", label: "Export costs", icon: Download },
  { segment: "me", label: "Your spend and limits", icon: Wallet },
  { segment: "budgets/requests", label: "Budget requests", icon: Gauge },
  { segment: "alerts/rules", label: "Alert rules and channels", icon: Bell },
  { segment: "settings/members", label: "Members and invitations", icon: Settings },
  { segment: "settings/prices", label: "Prices", icon: Settings },
  { segment: "settings/subscriptions", label: "Subscriptions", icon: Settings },
  { segment: "settings/bills", label: "Bills", icon: Settings },
  { segment: "settings/people", label: "People", icon: Settings },
  { segment: "settings/audit", label: "Audit log", icon: Settings },
  { segment: "settings/account", label: "Your account", icon: Settings },
];

/** The address of a workspace's page. */
export function pageHref(workspace: string, segment: string): string {
  return segment === "" ? `/${workspace}` : `/${workspace}/${segment}`;
}
