"use client";

import { usePathname } from "next/navigation";
import { useEffect } from "react";
import { cn } from "@/components/ui/cn";
import { Link } from "@/components/ui/link";
import { navigation, pageHref } from "./navigation";

/** Links to the pages of a workspace, with the current one marked. On a phone, following one closes the sidebar. */
export function NavLinks({ workspace, drawerId }: { workspace: string; drawerId: string }) {
  const path = usePathname();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect has to run when the path changes.
  useEffect(() => {
    const drawer = document.getElementById(drawerId);
    if (drawer?.matches(":popover-open")) drawer.hidePopover();
  }, [path, drawerId]);
  return (
    <nav aria-label="Pages" className="grid gap-0.5">
      {navigation.map(({ segment, label, icon: Icon, also }) => {
        const href = pageHref(workspace, segment);
        const isBelow = (segment: string) => path.startsWith(`${pageHref(workspace, segment)}/`);
        const isCurrent =
          path === href || (segment !== "" && isBelow(segment)) || (also !== undefined && isBelow(also));
        return (
          <Link
            key={segment}
            href={href}
            aria-current={isCurrent ? "page" : undefined}
            className={cn(
              "flex h-10 items-center gap-2.5 rounded-md px-2.5 text-[15px] lg:h-8 lg:text-sm",
              isCurrent
                ? "bg-sidebar-accent font-medium text-foreground"
                : "text-muted-foreground hover:bg-sidebar-accent hover:text-foreground",
            )}
          >
            <Icon aria-hidden="true" className="size-4 shrink-0" />
            {label}
          </Link>
        );
      })}
    </nav>
  );
}
