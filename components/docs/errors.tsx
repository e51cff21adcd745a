import { CodeFigure } from "./code-figure";
import type { ErrorRow } from "./reference";
import { InlineCode, TextWithCode } from "./text";

/** The page about errors: an example of their body, and all codes, each of which can be linked to. */
export function Errors({ errors, example }: { errors: ErrorRow[]; example: unknown }) {
  return (
    <div id="errors" className="max-w-3xl space-y-4">
      <p>
        Every error has the same body. Act on <InlineCode>error</InlineCode>, a code that stays the same;{" "}
        <InlineCode>error_description</InlineCode> explains to people what happened and what to do. Some codes
        have additional fields. New fields may appear in any answer, so ignore those you do not know.
      </p>
      <CodeFigure code={JSON.stringify(example, null, 2)} language="json" title="Status 400" />
      <dl className="divide-y rounded-lg border">
        {errors.map(({ status, code, when }) => (
          <div key={code} id={code} className="scroll-mt-28 px-3.5 py-2.5 target:bg-accent">
            <dt className="flex items-baseline gap-2.5">
              <span className="text-muted-foreground text-sm">{status}</span>
              <InlineCode>{code}</InlineCode>
            </dt>
            <dd className="mt-1 text-sm">
              <TextWithCode text={when} />
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** The errors of one endpoint by status, with links to their descriptions. */
export function ErrorCodes({ errors }: { errors: ErrorRow[] }) {
  const statuses = [...new Set(errors.map(({ status }) => status))];
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1.5 rounded-lg border px-3.5 py-2.5 text-sm">
      {statuses.map((status) => (
        <div key={status} className="contents">
          <dt className="text-muted-foreground">{status}</dt>
          <dd className="error-codes">
            {errors
              .filter((error) => error.status === status)
              .map(({ code }) => (
                <a key={code} href={`/docs/errors#${code}`} className="error-code">
                  {code}
                </a>
              ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
