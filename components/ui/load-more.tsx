import { Button, buttonVariants } from "./button";
import { Link } from "./link";

/** Loads the next rows: a link when the server renders them, a button when a script adds them. */
export function LoadMore({
  href,
  onClick,
  pending = false,
}: {
  href?: string;
  onClick?: () => void;
  pending?: boolean;
}) {
  return (
    <div className="flex justify-center py-4">
      {href ? (
        <Link href={href} scroll={false} className={buttonVariants({ variant: "outline" })}>
          Load more
        </Link>
      ) : (
        <Button variant="outline" onClick={onClick} disabled={pending}>
          {pending ? "Loading" : "Load more"}
        </Button>
      )}
    </div>
  );
}
