import type { ReactNode } from "react";
import { Link } from "@/components/link";

/** A list of figures, side by side. A phone shows two in a row. */
export function StatList({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-5 border-y py-4 lg:auto-cols-fr lg:grid-flow-col">
      {children}
    </dl>
  );
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
    <div className="grid min-w-0 content-start gap-0.5">
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
