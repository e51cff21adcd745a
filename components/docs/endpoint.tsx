import { Fragment, type ReactNode } from "react";
import { CodeFigure, SnippetFigure } from "./code-figure";
import { ErrorCodes } from "./errors";
import { FieldList, VariantList } from "./field-list";
import type { ReferenceEndpoint, RequestExample } from "./reference";
import { Fold, LinkedHeading, Method, TextLink, TextWithCode } from "./text";

/** The description of one endpoint: parameters, body, answer and errors on the left, examples on the right. */
export function EndpointSection({ endpoint }: { endpoint: ReferenceEndpoint }) {
  const { id, method, path, summary, description, parameters, body, response, sameAs, errors, requests } =
    endpoint;
  return (
    // Without a label, so that it is not a landmark: a page has many endpoints, and each has a heading.
    <section id={id} className="scroll-mt-11 border-t pt-8 pb-12 lg:scroll-mt-0">
      <LinkedHeading id={id}>{summary}</LinkedHeading>
      <p className="mt-1.5 flex flex-wrap items-baseline gap-2">
        <Method method={method} className="text-xs" />
        <code className="font-mono text-[13px] [overflow-wrap:anywhere]">{path}</code>
      </p>
      <div className="mt-4 max-w-3xl space-y-4">
        {description ? (
          <p>
            <TextWithCode text={description} />
          </p>
        ) : null}
        <Access endpoint={endpoint} />
      </div>
      <div className="mt-7 grid gap-x-10 gap-y-8 xl:grid-cols-[minmax(0,1fr)_minmax(0,27rem)]">
        <div className="min-w-0 space-y-7">
          {parameters.map(({ title, fields }) => (
            <Part key={title} title={title}>
              <FieldList fields={fields} kind="request" />
            </Part>
          ))}
          {body ? (
            <Part title="Body" aside={body.description}>
              {body.variants.length === 0 || body.fields.length > 0 ? (
                <FieldList fields={body.fields} kind="request" />
              ) : null}
              {body.variants.length > 0 ? (
                <>
                  <p className="mt-3 text-muted-foreground text-sm">
                    {body.fields.length > 0 ? "And the fields" : "The fields"} of one of these:
                  </p>
                  <VariantList variants={body.variants} kind="request" />
                </>
              ) : null}
            </Part>
          ) : null}
          <Part title="Answer" aside={`Status ${response.status}`}>
            {sameAs ? (
              <p className="text-sm">
                The same fields as <TextLink {...sameAs} />.
              </p>
            ) : (
              <FieldList fields={response.fields} kind="response" />
            )}
          </Part>
          <Part title="Errors">
            <ErrorCodes errors={errors} />
          </Part>
        </div>
        <div className="row-start-1 min-w-0 space-y-4 self-start xl:sticky xl:top-20 xl:col-start-2">
          <RequestExamples id={id} examples={requests} title={`Request: ${summary}`} />
          {response.example ? (
            <CodeFigure code={response.example} language="json" title={`Answer, ${response.status}`} />
          ) : null}
        </div>
      </div>
    </section>
  );
}

/** Who may call the endpoint. In `permission`, which may be a sentence, the names of permissions are code. */
function Access({ endpoint: { credential, permission, role } }: { endpoint: ReferenceEndpoint }) {
  const facts = {
    Credentials:
      credential === "none" ? (
        "None"
      ) : (
        <a href="/docs#credentials" className="underline decoration-input underline-offset-4">
          {credential === "key" ? "API key" : "User access token"}
        </a>
      ),
    Permission: permission && <TextWithCode text={permission.replace(/\b[a-z]+_[a-z_]+\b/g, "`$&`")} />,
    Role: role === "owner" ? "owner" : role && `${role} or higher`,
  };
  return (
    <dl className="grid grid-cols-[auto_1fr] gap-x-5 gap-y-1.5 text-sm">
      {Object.entries(facts).map(([name, fact]) =>
        fact ? (
          <Fragment key={name}>
            <dt className="text-muted-foreground">{name}</dt>
            <dd>{fact}</dd>
          </Fragment>
        ) : null,
      )}
    </dl>
  );
}

function Part({ title, aside, children }: { title: string; aside?: string; children: ReactNode }) {
  return (
    <div>
      <h3 className="part-head">
        {title}
        {aside ? <span className="font-normal text-muted-foreground text-xs">{aside}</span> : null}
      </h3>
      {children}
    </div>
  );
}

/** Example requests to copy, of which one is open at a time. @param props.id the endpoint's id */
function RequestExamples({ id, title, examples }: { id: string; title: string; examples: RequestExample[] }) {
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
