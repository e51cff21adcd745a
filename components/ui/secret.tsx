"use client";

import { CopyButton } from "./copy-button";

/** A secret in a read-only input with a copy button. The input selects its text when it gets the focus. */
export function Secret({ secret, label }: { secret: string; label: string }) {
  return (
    <div className="flex items-center gap-1 rounded-md border border-input bg-muted pr-1">
      <input
        readOnly
        value={secret}
        aria-label={label}
        onFocus={({ currentTarget }) => currentTarget.select()}
        className="h-10 w-full min-w-0 truncate rounded-md bg-transparent px-3 font-mono text-[13px]"
      />
      <CopyButton text={secret} label={`Copy ${label}`} className="size-8 shrink-0" />
    </div>
  );
}
