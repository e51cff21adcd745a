import { PageHeader } from "@/components/shell/page-header";
import { EmptyState } from "@/components/ui/empty-state";
import { OverviewLink } from "./overview-link";

/** Shown for an address in a workspace that does not exist. */
export default function NotFound() {
  return (
    <>
      <title>Not found · Outlay</title>
      <PageHeader title="Not found" />
      <EmptyState title="There is nothing here" action={<OverviewLink />}>
        Check the address for typing errors. The page may also have been removed.
      </EmptyState>
    </>
  );
}
