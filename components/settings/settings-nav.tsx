"use client";

import { usePathname } from "next/navigation";
import { useEffect, useRef } from "react";
import { cn } from "@/components/ui/cn";
import { Link } from "@/components/ui/link";

const pages = [
  { segment: "", label: "General" },
  { segment: "/members", label: "Members" },
  { segment: "/prices", label: "Prices" },
  { segment: "/subscriptions", label: "Subscriptions" },
  { segment: "/books", label: "Books" },
  { segment: "/bills", label: "Bills" },
  { segment: "/people", label: "People" },
  { segment: "/audit", label: "Audit log" },
  { segment: "/account", label: "Your account" },
];

/** Links to the pages of a workspace's settings, with the current one marked. On a phone, it scrolls to the current one. */
export function SettingsNav({ workspace }: { workspace: string }) {
  const path = usePathname();
  const nav = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect has to run when the path changes.
  useEffect(() => {
    const current = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (nav.current && current) nav.current.scrollLeft = current.offsetLeft - nav.current.offsetLeft - 16;
  }, [path]);
  return (
    <nav ref={nav} aria-label="Settings" className="mb-8 flex gap-5 overflow-x-auto border-b">
      {pages.map(({ segment, label }) => {
        const href = `/${workspace}/settings${segment}`;
        const isCurrent = path === href;
        return (
          <Link
            key={segment}
            href={href}
            aria-current={isCurrent ? "page" : undefined}
            className={cn(
              "-mb-px whitespace-nowrap border-b-2 py-2 text-sm outline-offset-[-2px]",
              isCurrent
                ? "border-primary text-foreground"
                : "border-transparent text-muted-foreground hover:text-foreground",
            )}
          >
            {label}
          </Link>
        );
      })}
    </nav>
  );
}
