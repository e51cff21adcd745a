import type { ReactNode } from "react";

/** Content that is folded away behind a title, without scripts. Of those in one `group`, one is open at a time. */
export function Fold({
  title,
  mono = false,
  open = false,
  group,
  children,
}: {
  title: string;
  mono?: boolean;
  open?: boolean;
  group?: string;
  children: ReactNode;
}) {
  return (
    <details open={open} name={group} className="mt-2">
      <summary className="folded-line">
        <span aria-hidden="true" className="fold-arrow">
          ›
        </span>
        {mono ? <code className="font-mono">{title}</code> : title}
      </summary>
      <div className="mt-2">{children}</div>
    </details>
  );
}
