import { EmptyState } from "@/components/ui/empty-state";

/** The page of an address within a workspace that is none. */
export default function NotFound() {
  return (
    <EmptyState title="There is nothing here">
      Check the address for a typing error. It may also be something that was taken away since.
    </EmptyState>
  );
}
