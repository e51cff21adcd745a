import { CodeFigure } from "./code-figure";
import type { Resource } from "./reference";
import { InlineCode, Method, TextLink, Topic } from "./text";

/** The page about what applies to every endpoint: credentials, money, idempotency, rate limits and request ids. */
export function Introduction({ baseUrl, resources }: { baseUrl: string; resources: Resource[] }) {
  return (
    <div className="max-w-3xl">
      <section id="overview" className="pb-10">
        <p>
          Outlay records what a team spends on AI and software, and reports exactly what it cost. Requests and
          answers are JSON. All endpoints have the same base address.
        </p>
        <div className="mt-5 space-y-4">
          <CodeFigure code={baseUrl} language="text" title="Base address" />
          <p>
            The whole API is also an <TextLink href="/api/openapi.json" label="OpenAPI 3.1 document" />, which
            these pages are generated from. You can generate a client from it or load it into your own tools.
          </p>
        </div>
      </section>
      <Topic id="credentials" title="Credentials">
        <p>
          Send an API key in the <InlineCode>Authorization</InlineCode> header. Keys begin with{" "}
          <InlineCode>svc_live_</InlineCode>, are created in the dashboard, and are shown once. A key has
          permissions, and may have conditions: projects, features, sources, addresses, a monthly limit, a
          rate limit and an expiry. A revoked or rotated key is refused at once.
        </p>
        <CodeFigure code="Authorization: Bearer svc_live_…" language="text" title="Header" />
        <p>Endpoints of the dashboard accept a user’s access token in the same header, and no API key.</p>
      </Topic>
      <Topic id="money" title="Money">
        <p>
          Amounts are JSON numbers in US dollars unless a field says otherwise. They are exact to the last
          digit in requests and answers: nothing is rounded to cents or stored as a float. An amount may have
          up to 15 digits before the point and 18 after it. JavaScript’s own{" "}
          <InlineCode>JSON.parse</InlineCode> keeps about 15 significant digits. If you need all of them,
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
          Usage without a known price is stored as <InlineCode>unpriced</InlineCode> with the amount 0 and
          counted in <InlineCode>unpriced_count</InlineCode>, so that you can tell it from usage that is free.
          Months are UTC calendar months.
        </p>
      </Topic>
      <Topic id="idempotency" title="Idempotency">
        <p>
          Give each message an <InlineCode>idempotency_key</InlineCode> of your own, in the body or as the{" "}
          <InlineCode>Idempotency-Key</InlineCode> header. The same key with the same message gets the first
          answer again, with <InlineCode>Idempotent-Replayed: true</InlineCode>. It records nothing and does
          not count against limits. The same key with a different message is refused with{" "}
          <InlineCode>idempotency_conflict</InlineCode>. Refused requests are not remembered, so you can
          correct a request and send it again. The answer is sent only after the message is stored: after a
          timeout, retry with the same key.
        </p>
      </Topic>
      <Topic id="rate-limits" title="Rate limits">
        <p>
          A key may have a rate limit: a number of requests in any 60 seconds, a rolling window. Every answer
          then says how many requests are left, and a refusal says exactly how long to wait. Refused requests
          do not extend the wait.
        </p>
        <CodeFigure
          language="text"
          title="Headers"
          code={'RateLimit-Policy: "key";q=600;w=60\nRateLimit: "key";r=598;t=41\nRetry-After: 12'}
        />
        <p>
          <InlineCode>q</InlineCode> requests are allowed in any <InlineCode>w</InlineCode> seconds;{" "}
          <InlineCode>r</InlineCode> are left now, and more in <InlineCode>t</InlineCode> seconds.{" "}
          <InlineCode>Retry-After</InlineCode> comes with the statuses 429 and 503.
        </p>
      </Topic>
      <Topic id="request-ids" title="Request ids">
        <p>
          Every answer carries an <InlineCode>X-Request-Id</InlineCode> header; errors repeat it as{" "}
          <InlineCode>request_id</InlineCode>. Keep it in your logs, to find the request in the logs of the
          service.
        </p>
      </Topic>
      <Topic id="endpoints" title="All endpoints">
        <EndpointIndex resources={resources} />
      </Topic>
    </div>
  );
}

/** A list of all endpoints with links to their descriptions. */
function EndpointIndex({ resources }: { resources: Resource[] }) {
  return resources.map(({ name, path, endpoints }) => (
    <section key={name} aria-label={name}>
      <h3 className="font-medium text-sm">
        <a href={path} className="hover:underline">
          {name}
        </a>
      </h3>
      <ul className="mt-1 divide-y border-y">
        {endpoints.map(({ id, method, path: address, summary }) => (
          <li key={id}>
            <a
              href={`${path}#${id}`}
              className="grid gap-x-3 py-1.5 text-sm hover:bg-accent sm:grid-cols-[1fr_auto]"
            >
              <span>{summary}</span>
              <span className="flex min-w-0 items-baseline gap-2 text-muted-foreground">
                <Method method={method} className="text-[10px]" />
                <code className="font-mono text-xs [overflow-wrap:anywhere]">{address}</code>
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  ));
}
