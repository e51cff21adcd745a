"use client";

import Link from "next/link";
import { usePathname } from "next/navigation";
import { useEffect, useRef } from "react";
import { cn } from "@/components/cn";

const parts = [
  { segment: "", label: "General" },
  { segment: "/members", label: "Members" },
  { segment: "/prices", label: "Prices" },
  { segment: "/subscriptions", label: "Subscriptions" },
  { segment: "/audit", label: "Audit log" },
  { segment: "/account", label: "Your account" },
];

/** The parts of a workspace's settings, the current one marked. */
export function SettingsNav({ workspace }: { workspace: string }) {
  const path = usePathname();
  const nav = useRef<HTMLElement>(null);
  // On a phone not all of them have room.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the path is what moves the mark.
  useEffect(() => {
    const current = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (nav.current && current) nav.current.scrollLeft = current.offsetLeft - nav.current.offsetLeft - 16;
  }, [path]);
  return (
    <nav ref={nav} aria-label="Settings" className="mb-8 flex gap-5 overflow-x-auto border-b">
      {parts.map(({ segment, label }) => {
        const href = `/${workspace}/settings${segment}`;
        const isHere = path === href;
        return (
          <Link
            key={segment}
            href={href}
            aria-current={isHere ? "page" : undefined}
            className={cn(
              "-mb-px whitespace-nowrap border-b-2 py-2 text-sm outline-offset-[-2px]",
              isHere
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
