import type { ReactNode } from "react";
import { cn } from "@/components/ui/cn";

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

/** A link within a text. */
export function TextLink({ href, label }: { href: string; label: string }) {
  return (
    <a href={href} className="text-primary underline underline-offset-4">
      {label}
    </a>
  );
}

/** A heading with a link to its section, which appears on hover. */
export function LinkedHeading({ id, children }: { id: string; children: ReactNode }) {
  return (
    <h2 className="group/anchor font-semibold text-xl tracking-tight">
      {children}
      <a
        href={`#${id}`}
        aria-label="Link to this section"
        className="ml-2 rounded-sm font-normal text-muted-foreground opacity-0 transition-opacity print:hidden hover:text-foreground focus-visible:opacity-100 group-hover/anchor:opacity-100"
      >
        #
      </a>
    </h2>
  );
}

/** A section of text with a heading that can be linked to. */
export function Topic({ id, title, children }: { id: string; title: string; children: ReactNode }) {
  return (
    <section id={id} className="scroll-mt-11 pb-10 lg:scroll-mt-0">
      <LinkedHeading id={id}>{title}</LinkedHeading>
      <div className="mt-3 space-y-4">{children}</div>
    </section>
  );
}

const colours: Record<string, string> = {
  GET: "text-(--code-string)",
  POST: "text-primary",
  PUT: "text-(--code-number)",
  PATCH: "text-(--code-number)",
  DELETE: "text-destructive",
};

/** An HTTP method in its colour. */
export function Method({ method, className }: { method: string; className?: string }) {
  return (
    <span className={cn("font-medium font-mono text-[11px] uppercase", colours[method], className)}>
      {method}
    </span>
  );
}

/** Content that is folded behind a title, without scripts. In a `group`, only one is open at a time. */
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
