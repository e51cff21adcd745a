"use client";

import { usePathname, useRouter, useSearchParams } from "next/navigation";
import type { ReactNode } from "react";

/** A link to another message in the sheet, which stays open. */
export function MessageLink({ id, children }: { id: string; children: ReactNode }) {
  const path = usePathname();
  const params = new URLSearchParams(useSearchParams());
  params.set("message", id);
  const href = `${path}?${params}`;
  return (
    <a
      href={href}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        // Keeps only our own fields of the state. Next takes a state with its fields for its own navigation and ignores the address.
        const { openedFromList } = window.history.state ?? {};
        window.history.replaceState({ openedFromList }, "", href);
      }}
      className="underline underline-offset-4"
    >
      {children}
    </a>
  );
}

/** Shows another message in the sheet, and reads the list behind it again. */
export function useShowMessage(): (id: string) => void {
  const router = useRouter();
  const path = usePathname();
  const params = useSearchParams();
  return (id) => {
    const next = new URLSearchParams(params);
    next.set("message", id);
    router.replace(`${path}?${next}`, { scroll: false });
  };
}
