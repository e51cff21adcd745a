import { cn } from "./cn";
import { CopyButton } from "./copy-button";
import { highlight, type Language } from "./highlight";

/** Highlighted code. It can have the focus, so that the keyboard can scroll it. */
export function Code({
  code,
  language,
  label,
  className,
}: {
  code: string;
  language: Language;
  label: string;
  className?: string;
}) {
  return (
    // A group instead of a region, so that a page with many examples does not have as many landmarks.
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form controls.
    <div
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard.
      tabIndex={0}
      aria-label={label}
      className={cn("overflow-auto focus-visible:outline-offset-[-2px]", className)}
    >
      <pre className="code-lines">
        <code>{highlight(code, language)}</code>
      </pre>
    </div>
  );
}

/** Code with a title and a button that copies it. */
export function CodeBlock({
  code,
  language,
  title,
  className,
}: {
  code: string;
  language: Language;
  title: string;
  className?: string;
}) {
  return (
    <figure className={cn("min-w-0 overflow-hidden rounded-lg border bg-muted", className)}>
      <figcaption className="flex h-9 items-center justify-between border-b pr-1 pl-4 text-muted-foreground text-xs">
        {title}
        <CopyButton text={code} label={`Copy ${title}`} />
      </figcaption>
      <Code code={code} language={language} label={title} className="max-h-96" />
    </figure>
  );
}
