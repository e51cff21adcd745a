import type { Metadata } from "next";
import { PageHeader } from "@/components/shell/page-header";

export const metadata: Metadata = { title: "Keys" };

/** Keeps the address until its page is built. */
export default function KeysPage() {
  return <PageHeader title="Keys" />;
}
