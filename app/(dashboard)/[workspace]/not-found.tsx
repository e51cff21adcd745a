import { EmptyState } from "@/components/ui/empty-state";

/** Shown for an address in a workspace that does not exist. */
export default function NotFound() {
  return (
    <EmptyState title="There is nothing here">
      Check the address for typing errors. The page may also have been removed.
    </EmptyState>
  );
}
