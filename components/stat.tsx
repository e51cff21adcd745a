import Link from "next/link";
import type { ReactNode } from "react";

/** Figures side by side; two in a row on a phone. */
export function StatList({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-2 gap-x-6 gap-y-5 border-y py-4 lg:auto-cols-fr lg:grid-flow-col">
      {children}
    </dl>
  );
}

/** A figure: what it is, how much, and what to compare it with. It leads to the rows behind it. */
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
