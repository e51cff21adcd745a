import type { Metadata } from "next";
import { PageHeader } from "@/components/shell/page-header";

export const metadata: Metadata = { title: "Projects" };

/** Keeps the address until its page is built. */
export default function ProjectsPage() {
  return <PageHeader title="Projects" />;
}
