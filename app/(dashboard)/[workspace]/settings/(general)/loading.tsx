import { FormSkeleton } from "@/components/settings/form-skeleton";

export default function Loading() {
  return <FormSkeleton />;
}
