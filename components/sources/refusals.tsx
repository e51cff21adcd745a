import { formatNumber } from "@/components/figures/format-count";
import { Time } from "@/components/figures/time";
import { Badge } from "@/components/ui/badge";
import type { SourceView } from "./source-view";

/** Why records and requests of a source were refused, with what to do about it and an example. */
export function Refusals({ refusals }: { refusals: SourceView["refusals"] }) {
  return (
    <ul className="divide-y rounded-lg border">
      {refusals.map(({ code, description, count, last_at: at, example }) => (
        <li key={`${code} ${description}`} className="grid gap-1.5 px-4 py-3 text-sm">
          <div className="flex flex-wrap items-baseline justify-between gap-x-4 gap-y-1">
            <p className="min-w-0 flex-1 basis-64 [overflow-wrap:anywhere]">{description}</p>
            <p className="text-muted-foreground text-xs tabular-nums">
              {formatNumber(count)} {unit(example !== null, count)}, last <Time at={at} />
            </p>
          </div>
          {remedies[code] ? <p className="text-muted-foreground text-xs">{remedies[code]}</p> : null}
          {example === null ? (
            <Badge variant="outline" className="w-fit">
              Whole request
            </Badge>
          ) : Object.keys(example).length > 0 ? (
            <Example example={example} />
          ) : null}
        </li>
      ))}
    </ul>
  );
}

const unit = (isRecord: boolean, count: number) => {
  const noun = isRecord ? "record" : "request";
  return count === 1 ? noun : `${noun}s`;
};

/** What to do about a refusal, by its code. */
const remedies: Record<string, string> = {
  project_not_allowed:
    "Add the project to the key's projects on the page Keys, or choose another attribute for the project below.",
  feature_not_allowed:
    "Add the feature to the key's features on the page Keys, or set a default feature below.",
  user_not_allowed: "Add the user to the key's users on the page Keys.",
  permission_denied: "Give the key the permission to log usage on the page Keys.",
  source_not_allowed: "Allow the source API for the key on the page Keys.",
  monthly_limit_exceeded:
    "Raise the key's monthly limit on the page Keys, or let it record costs past the limit.",
  budget_exceeded: "Raise the budget on the page Budgets, or change it to warn only.",
  ip_not_allowed: "Add the address to the key's allowed addresses on the page Keys.",
  key_expired: "Give the key a later expiry on the page Keys.",
  key_revoked: "A revoked key stays revoked. Add a source with a new key.",
  rate_limited: "The program retries by itself. Raise the key's requests per minute on the page Keys.",
};

const labels: Record<string, string> = {
  emitter: "Emitter",
  service: "Service",
  project: "Project",
  feature: "Feature",
  provider: "Provider",
  model: "Model",
  input_tokens: "Input tokens",
  output_tokens: "Output tokens",
  occurred_at: "Time",
};

function Example({ example }: { example: Record<string, string> }) {
  return (
    <details>
      <summary className="w-fit cursor-pointer rounded-sm text-muted-foreground text-xs hover:text-foreground">
        The last such record
      </summary>
      <dl className="grid gap-x-4 gap-y-1 pt-2 text-xs sm:grid-cols-[8rem_minmax(0,1fr)]">
        {Object.entries(labels).flatMap(([name, label]) =>
          example[name] === undefined
            ? []
            : [
                <div key={name} className="grid sm:contents">
                  <dt className="text-muted-foreground">{label}</dt>
                  <dd className="font-mono [overflow-wrap:anywhere]">{example[name]}</dd>
                </div>,
              ],
        )}
      </dl>
    </details>
  );
}
