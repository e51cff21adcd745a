import type { ReactNode } from "react";
import { cn } from "@/components/cn";

/** A word of code within a sentence. */
export function InlineCode({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <code
      className={cn(
        "rounded-sm border bg-muted px-1 py-px font-mono text-[0.86em] [overflow-wrap:anywhere]",
        className,
      )}
    >
      {children}
    </code>
  );
}

/** A sentence in which `backticks` mean code, as the document's descriptions have them. */
export function Inline({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a fixed text never move.
    index % 2 === 1 ? <InlineCode key={index}>{part}</InlineCode> : part,
  );
}
