import { buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";

/** The next step of a page on which nothing is recorded, for members who may take it: add a program that reports its costs. */
export function AddSourceLink({ workspace: { slug, role } }: { workspace: { slug: string; role: string } }) {
  if (role === "viewer") return null;
  return (
    <Link href={`/${slug}/sources/new`} className={buttonVariants({ variant: "outline" })}>
      Add a source
    </Link>
  );
}
