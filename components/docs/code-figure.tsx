import type { ReactNode } from "react";
import { cn } from "@/components/cn";
import { Code } from "@/components/ui/code-block";
import type { Language } from "@/components/ui/highlight";
import type { Snippet } from "./snippets";

/** Copies the code of the figure it stands in, where there are scripts (`app/docs/browser`). */
function CopyCode({ label }: { label: string }) {
  return (
    <button
      type="button"
      data-copy=""
      aria-label={label}
      className="invisible h-7 rounded-sm px-2 text-muted-foreground text-xs hover:text-foreground js:visible"
    >
      Copy
    </button>
  );
}

function Frame({ caption, children }: { caption: ReactNode; children: ReactNode }) {
  return (
    <figure className="group/code min-w-0 overflow-hidden rounded-lg border bg-muted">
      <figcaption className="flex h-9 items-center justify-between gap-2 border-b pr-1 pl-4 text-muted-foreground text-xs">
        {caption}
      </figcaption>
      {children}
    </figure>
  );
}

/** Code with what it is above it. */
export function CodeFigure({ code, language, title }: { code: string; language: Language; title: string }) {
  return (
    <Frame
      caption={
        <>
          <span className="truncate">{title}</span>
          <CopyCode label={`Copy ${title}`} />
        </>
      }
    >
      <Code code={code} language={language} label={title} className="max-h-96" />
    </Frame>
  );
}

/** Shown while its language is chosen. The stylesheet decides, so that choosing needs no script. */
const shownWhile: Record<string, string> = {
  curl: "group-has-[[value=curl]:checked]/code:block",
  TypeScript: "group-has-[[value=TypeScript]:checked]/code:block",
  Python: "group-has-[[value=Python]:checked]/code:block",
};

/**
 * A request in several languages, one in sight.
 * @param props.id tells this example from all others of the page
 */
export function SnippetFigure({ id, title, snippets }: { id: string; title: string; snippets: Snippet[] }) {
  return (
    <Frame
      caption={
        <>
          <fieldset className="-ml-2.5 flex gap-0.5">
            <legend className="sr-only">Language of the example</legend>
            {snippets.map(({ label }, index) => (
              <label key={label} className="language-choice">
                <input
                  type="radio"
                  name={`${id}-language`}
                  value={label}
                  data-language=""
                  defaultChecked={index === 0}
                  className="sr-only"
                />
                {label}
              </label>
            ))}
          </fieldset>
          <CopyCode label="Copy the example" />
        </>
      }
    >
      {snippets.map(({ label, language, code }) => (
        <div key={label} className={cn("hidden", shownWhile[label])}>
          <Code code={code} language={language} label={`${title} in ${label}`} className="max-h-[32rem]" />
        </div>
      ))}
    </Frame>
  );
}
