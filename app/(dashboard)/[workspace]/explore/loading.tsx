import { ExploreSkeleton } from "@/components/explore/explore-skeleton";
import { PageHeader } from "@/components/shell/page-header";

export default function Loading() {
  return (
    <>
      <PageHeader title="Explore" />
      <ExploreSkeleton />
    </>
  );
}
