import type { ReactNode } from "react";

/** A word of code within a sentence. */
export function InlineCode({ children }: { children: ReactNode }) {
  return <code className="inline-code">{children}</code>;
}

/** A sentence in which `backticks` mean code, as the document's descriptions have them. */
export function Inline({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: parts of a fixed text never move.
    index % 2 === 1 ? <InlineCode key={index}>{part}</InlineCode> : part,
  );
}
