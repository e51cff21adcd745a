import type { ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import { Code } from "@/components/ui/code-block";
import type { Language } from "@/components/ui/highlight";
import type { Snippet } from "./snippets";

/** Code below a caption with a button that copies what is visible. `app/docs/browser` enables it; without scripts it is invisible. */
function Frame({ caption, copy, children }: { caption: ReactNode; copy: string; children: ReactNode }) {
  return (
    <figure className="group/code min-w-0 overflow-hidden rounded-lg border bg-muted">
      <figcaption className="flex h-9 items-center justify-between gap-2 border-b pr-1 pl-4 text-muted-foreground text-xs">
        {caption}
        <button
          type="button"
          data-copy=""
          aria-label={copy}
          className="invisible h-7 rounded-sm px-2 text-muted-foreground text-xs hover:text-foreground js:visible"
        >
          Copy
        </button>
      </figcaption>
      {children}
    </figure>
  );
}

/** Code with a title and a copy button. */
export function CodeFigure({ code, language, title }: { code: string; language: Language; title: string }) {
  return (
    <Frame caption={<span className="truncate">{title}</span>} copy={`Copy ${title}`}>
      <Code code={code} language={language} label={title} className="max-h-96" />
    </Frame>
  );
}

/** Classes that show the code of the chosen language. CSS does this, so that choosing needs no script. */
const shownForLanguage: Record<string, string> = {
  curl: "group-has-[[value=curl]:checked]/code:block",
  TypeScript: "group-has-[[value=TypeScript]:checked]/code:block",
  Python: "group-has-[[value=Python]:checked]/code:block",
};

/**
 * A request in several languages, of which one is shown.
 * @param props.id unique on the page
 */
export function SnippetFigure({ id, title, snippets }: { id: string; title: string; snippets: Snippet[] }) {
  const choice = (
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
  );
  return (
    <Frame caption={choice} copy="Copy the example">
      {snippets.map(({ label, language, code }) => (
        <div key={label} className={cn("hidden", shownForLanguage[label])}>
          <Code code={code} language={language} label={`${title} in ${label}`} className="max-h-[32rem]" />
        </div>
      ))}
    </Frame>
  );
}
