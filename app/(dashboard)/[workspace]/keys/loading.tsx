import { KeysSkeleton } from "@/components/keys/keys-skeleton";
import { PageHeader } from "@/components/shell/page-header";

export default function KeysLoading() {
  return (
    <>
      <PageHeader title="Keys" />
      <KeysSkeleton />
    </>
  );
}
