import type { Metadata } from "next";
import { PageHeader } from "@/components/shell/page-header";

export const metadata: Metadata = { title: "Settings" };

/** Keeps the address until its page is built. */
export default function SettingsPage() {
  return <PageHeader title="Settings" />;
}
