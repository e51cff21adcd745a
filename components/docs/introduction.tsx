import { agentTools } from "./agent-tools";
import { CodeFigure } from "./code-figure";
import { EndpointIndex, GuideIndex } from "./endpoint-index";
import { ErrorsTable } from "./errors-table";
import { InlineCode } from "./inline";
import type { ErrorRow, Resource } from "./reference";
import { Topic } from "./topic";

const errorExample = `{
  "error": "validation_failed",
  "error_description": "message.quantity: must be greater than 0",
  "issues": [
    { "path": "message.quantity", "message": "must be greater than 0" }
  ],
  "request_id": "req_0b9f6c1e-5d0e-4b0a-9c55-6c2a3f1d7e84"
}`;

/** What holds for every endpoint. */
export function Introduction({ baseUrl, resources }: { baseUrl: string; resources: Resource[] }) {
  return (
    <div className="max-w-3xl">
      <section id="overview" className="pb-10">
        <p>
          Outlay records what a team spends on AI and software and tells exactly what it cost. Requests and
          answers are JSON; everything is under one address.
        </p>
        <div className="mt-5 space-y-4">
          <CodeFigure code={baseUrl} language="text" title="Base address" />
          <p>
            The whole API is also an{" "}
            <a href="/api/openapi.json" className="text-primary underline underline-offset-4">
              OpenAPI 3.1 document
            </a>
            , from which these pages are made: generate a client from it, or load it into your own tools.
          </p>
        </div>
      </section>
      <Topic id="credentials" title="Credentials">
        <p>
          Send an API key in the <InlineCode>Authorization</InlineCode> header. Keys begin with{" "}
          <InlineCode>svc_live_</InlineCode>, are made in the dashboard, and are shown once. A key has
          permissions, and may have conditions: projects, features, sources, addresses, a monthly limit, a
          rate limit and an expiry. A revoked or rotated key is refused at once.
        </p>
        <CodeFigure code="Authorization: Bearer svc_live_…" language="text" title="Header" />
        <p>
          Endpoints of the dashboard take a signed-in user’s access token in the same header instead, and no
          API key.
        </p>
      </Topic>
      <Topic id="money" title="Money">
        <p>
          Amounts are JSON numbers in US dollars unless a field says otherwise, exact to the last digit, in
          and out: nothing is rounded to cents and nothing goes through a float on our side. An amount may
          have up to 15 digits before the point and 18 after it. JavaScript’s own{" "}
          <InlineCode>JSON.parse</InlineCode> keeps about 15 significant digits; where you need all of them,
          parse with a decimal type.
        </p>
        <CodeFigure
          language="python"
          title="Python, exact"
          code={
            'from decimal import Decimal\n\nresult = response.json(parse_float=Decimal)\nresult["amount_usd"]  # Decimal("0.1825")'
          }
        />
        <p>
          Usage whose price is not known is stored as <InlineCode>unpriced</InlineCode> with the amount 0 and
          counted in <InlineCode>unpriced_count</InlineCode>, so that a 0 never passes for free of charge.
          Months are UTC calendar months.
        </p>
      </Topic>
      <Topic id="idempotency" title="Idempotency">
        <p>
          Give each message an <InlineCode>idempotency_key</InlineCode> of your own, in the body or as the{" "}
          <InlineCode>Idempotency-Key</InlineCode> header. The same key with the same message is answered as
          the first time, with <InlineCode>Idempotent-Replayed: true</InlineCode>, records nothing and uses up
          no limit. The same key with a different message is refused with{" "}
          <InlineCode>idempotency_conflict</InlineCode>. Refused requests are not remembered, so a retry after
          a mistake is simply a new try. The answer to a recorded message is sent once it is stored: after a
          timeout, retry with the same key.
        </p>
      </Topic>
      <Topic id="rate-limits" title="Rate limits">
        <p>
          A key may have a rate limit, in requests in any 60 seconds: a rolling window, not one that starts
          anew each minute. Then every answer says what is left, and a refusal says exactly how long to wait.
          Refused requests do not extend the wait.
        </p>
        <CodeFigure
          language="text"
          title="Headers"
          code={'RateLimit-Policy: "key";q=600;w=60\nRateLimit: "key";r=598;t=41\nRetry-After: 12'}
        />
        <p>
          <InlineCode>q</InlineCode> requests in any <InlineCode>w</InlineCode> seconds;{" "}
          <InlineCode>r</InlineCode> are left now, more in <InlineCode>t</InlineCode> seconds.{" "}
          <InlineCode>Retry-After</InlineCode> comes with the statuses 429 and 503.
        </p>
      </Topic>
      <Topic id="request-ids" title="Request ids">
        <p>
          Every answer carries an <InlineCode>X-Request-Id</InlineCode> header; errors repeat it as{" "}
          <InlineCode>request_id</InlineCode>. Keep it with your logs: it finds the request in the service’s
          own.
        </p>
      </Topic>
      <Topic id="more" title="Agents and errors">
        <GuideIndex
          sections={[
            ...agentTools.map((section) => ({ ...section, path: "/docs/agents" })),
            { id: "errors", label: "Errors", path: "/docs/errors" },
          ]}
        />
      </Topic>
      <Topic id="endpoints" title="All endpoints">
        <EndpointIndex resources={resources} />
      </Topic>
    </div>
  );
}

/** What an error looks like, and every one there is. */
export function Errors({ errors }: { errors: ErrorRow[] }) {
  return (
    <div id="errors" className="max-w-3xl space-y-4">
      <p>
        Every error has the same body. Act on <InlineCode>error</InlineCode>, a code that stays the same;{" "}
        <InlineCode>error_description</InlineCode> says what happened and what to do, for people. Some codes
        add fields of their own. New fields may appear in any answer, so ignore those you do not know.
      </p>
      <CodeFigure code={errorExample} language="json" title="Status 400" />
      <ErrorsTable errors={errors} />
    </div>
  );
}
