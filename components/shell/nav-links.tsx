"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { useEffect } from "react";
import { cn } from "@/components/cn";
import { navigation, pageHref } from "./navigation";

/** The pages of a workspace, the current one marked. On a phone the drawer they stand in closes behind whoever follows one. */
export function NavLinks({ workspace, drawerId }: { workspace: string; drawerId: string }) {
  const path = usePathname();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the path is what it waits for.
  useEffect(() => {
    const drawer = document.getElementById(drawerId);
    if (drawer?.matches(":popover-open")) drawer.hidePopover();
  }, [path, drawerId]);
  return (
    <nav aria-label="Pages" className="grid gap-0.5">
      {navigation.map(({ segment, label, icon: Icon }) => {
        const href = pageHref(workspace, segment);
        const isHere = segment === "" ? path === href : path === href || path.startsWith(`${href}/`);
        return (
          <Link
            key={segment}
            href={href}
            aria-current={isHere ? "page" : undefined}
            className={cn(
              "flex h-10 items-center gap-2.5 rounded-md px-2.5 text-[15px] lg:h-8 lg:text-sm",
              isHere
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
