import type { Metadata } from "next";
import { PageHeader } from "@/components/shell/page-header";

export const metadata: Metadata = { title: "Connections" };

/** Keeps the address until its page is built. */
export default function ConnectionsPage() {
  return <PageHeader title="Connections" />;
}
