import Link from "next/link";
import { PageHeader } from "@/components/shell/page-header";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";

/** Shown for an address in a workspace that does not exist. */
export default function NotFound() {
  return (
    <>
      <title>Not found · Outlay</title>
      <PageHeader title="Not found" />
      <EmptyState
        title="There is nothing here"
        action={
          <Link href="/" className={buttonVariants({ variant: "outline" })}>
            Go to the overview
          </Link>
        }
      >
        Check the address for typing errors. The page may also have been removed.
      </EmptyState>
    </>
  );
}
