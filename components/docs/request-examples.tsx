import { SnippetFigure } from "./code-figure";
import { Folded } from "./folded";
import type { RequestExample } from "./reference";

/** Requests to copy. Of several, one is unfolded at a time. @param props.id the endpoint's */
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
        <Folded key={name} title={label} group={`${id}-examples`} open={index === 0}>
          <SnippetFigure id={`${id}-${name}`} title={`${title}: ${label}`} snippets={snippets} />
        </Folded>
      ))}
    </div>
  );
}
