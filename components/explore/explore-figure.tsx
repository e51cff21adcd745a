import { Link } from "@/components/link";
import type { ExploreGroup } from "./data";

/** The name of a row or a column of an answer. */
export function GroupName({ group }: { group: ExploreGroup | undefined }) {
  return <bdi title={group?.label}>{group?.label}</bdi>;
}

/** A figure, with a link to its rows where activity can show them. */
export function ExploreFigure({
  href,
  text,
  exact,
}: {
  href: string | undefined;
  text: string;
  exact: string | null;
}) {
  if (!href) return <span title={exact ?? undefined}>{text}</span>;
  return (
    <Link href={href} prefetch={false} title={exact ?? undefined} className="rounded-sm hover:underline">
      {text}
    </Link>
  );
}
