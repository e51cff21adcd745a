import { ListSkeleton } from "@/components/ui/list-skeleton";

export default function SettingsLoading() {
  return <ListSkeleton />;
}
