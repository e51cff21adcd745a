import type { ReactNode } from "react";
import { Link } from "@/components/ui/link";

/** The header of a page: its title, and controls and actions on the right. */
export function PageHeader({
  title,
  parent,
  actions,
}: {
  title: ReactNode;
  /** The page above this one. */
  parent?: { href: string; label: string };
  actions?: ReactNode;
}) {
  return (
    <header className="flex min-h-9 flex-wrap items-center justify-between gap-x-4 gap-y-3 pb-6">
      <div className="flex min-w-0 items-baseline gap-2">
        {parent ? (
          <>
            <Link href={parent.href} className="rounded-sm text-muted-foreground hover:text-foreground">
              {parent.label}
            </Link>
            <span aria-hidden="true" className="text-input">
              /
            </span>
          </>
        ) : null}
        <h1 dir="auto" className="truncate text-left font-semibold text-lg tracking-tight">
          {title}
        </h1>
      </div>
      {actions ? <div className="flex max-w-full flex-wrap items-center gap-2">{actions}</div> : null}
    </header>
  );
}
