"use client";

import { useParams } from "next/navigation";
import { buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";

/** A link from an address that does not exist to the overview of its workspace. */
export function OverviewLink() {
  const { workspace } = useParams<{ workspace: string }>();
  return (
    <Link href={`/${workspace}`} className={buttonVariants({ variant: "outline" })}>
      Go to the overview
    </Link>
  );
}
