import { SnippetFigure } from "./code-figure";
import { Fold } from "./fold";
import type { RequestExample } from "./reference";

/** Example requests to copy. Of several, one is open at a time. @param props.id the endpoint's id */
export function RequestExamples({
  id,
  title,
  examples,
}: {
  id: string;
  title: string;
  examples: RequestExample[];
}) {
  const [only] = examples;
  if (examples.length === 1 && only) return <SnippetFigure id={id} title={title} snippets={only.snippets} />;
  return (
    <div className="space-y-1">
      {examples.map(({ name, label, snippets }, index) => (
        <Fold key={name} title={label} group={`${id}-examples`} open={index === 0}>
          <SnippetFigure id={`${id}-${name}`} title={`${title}: ${label}`} snippets={snippets} />
        </Fold>
      ))}
    </div>
  );
}
