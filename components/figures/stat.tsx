import type { ReactNode } from "react";
import { Link } from "@/components/ui/link";

/** A list of figures, side by side. A phone shows two in a row, or one where two figures are too long for a row. */
export function StatList({ children }: { children: ReactNode }) {
  return <dl className="flex flex-wrap gap-x-6 gap-y-5 border-y py-4">{children}</dl>;
}

/** A figure with its label and a note. With `href`, it links to the rows behind it. */
export function Stat({
  label,
  href,
  note,
  children,
}: {
  label: string;
  href?: string;
  note?: ReactNode;
  children: ReactNode;
}) {
  return (
    // Never narrower than its figure, which has no place to break.
    <div className="grid flex-[1_1_calc(50%-0.75rem)] content-start gap-0.5 lg:flex-[1_1_0]">
      <dt className="text-muted-foreground text-xs">{label}</dt>
      <dd className="font-medium text-lg tabular-nums tracking-tight">
        {href ? (
          <Link href={href} className="rounded-sm hover:underline" prefetch={false}>
            {children}
          </Link>
        ) : (
          children
        )}
      </dd>
      {note ? <dd className="text-muted-foreground text-xs">{note}</dd> : null}
    </div>
  );
}
