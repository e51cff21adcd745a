import type { ReactNode } from "react";

/** Code within a sentence. */
export function InlineCode({ children }: { children: ReactNode }) {
  return <code className="inline-code">{children}</code>;
}

/** A text in which `backticks` mark code, as in the descriptions of the OpenAPI document. */
export function TextWithCode({ text }: { text: string }) {
  return text.split("`").map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts never move.
    index % 2 === 1 ? <InlineCode key={index}>{part}</InlineCode> : part,
  );
}
