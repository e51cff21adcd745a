import type { ReactNode } from "react";

/** The message of an empty list: what would be shown here, and how to get it. */
export function EmptyState({
  icon,
  title,
  children,
  action,
}: {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <div
      data-empty
      className="grid justify-items-center gap-2 rounded-lg border border-dashed px-6 py-14 text-center"
    >
      {icon ? (
        <span aria-hidden="true" className="pb-1 text-muted-foreground [&_svg]:size-6">
          {icon}
        </span>
      ) : null}
      <p className="font-medium">{title}</p>
      {children ? <div className="max-w-[52ch] text-muted-foreground text-sm">{children}</div> : null}
      {action ? <div className="pt-3">{action}</div> : null}
    </div>
  );
}
