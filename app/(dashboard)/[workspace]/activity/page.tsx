import type { Metadata } from "next";
import { PageHeader } from "@/components/shell/page-header";

export const metadata: Metadata = { title: "Activity" };

/** Keeps the address until its page is built. */
export default function ActivityPage() {
  return <PageHeader title="Activity" />;
}
