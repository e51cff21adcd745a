import { ListSkeleton } from "@/components/ui/list-skeleton";

/** What is in sight at once when one goes to a part that is a list. */
export default function SettingsLoading() {
  return <ListSkeleton />;
}
