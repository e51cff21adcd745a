import { formatCount } from "@/components/figures/format-count";
import type { Source } from "@/lib/contract/sources/sources";

type Row = Pick<Source["account"][number], "emitter" | "outcome" | "by" | "count">;

/** What became of the records of a source in the last 7 days, in words. The counts sum to all records. */
export function Account({ account }: { account: readonly Row[] }) {
  const total = account.reduce((sum, { count }) => sum + count, 0);
  if (total === 0)
    return <p className="text-muted-foreground text-sm">Nothing with usage came in the last 7 days.</p>;
  return (
    <section aria-label="Outcomes" className="grid gap-1.5 text-sm">
      <h3 className="font-medium">{formatCount(total, "record")} with usage in the last 7 days</h3>
      <ul className="grid list-disc gap-1 pl-5 text-muted-foreground [overflow-wrap:anywhere]">
        {sentencesOf(account).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </section>
  );
}

/** What an account says, a sentence for each outcome and, where it has one, its reason. */
export function sentencesOf(account: readonly Row[]): string[] {
  const counts = new Map<string, number>();
  const add = (kind: string, count: number) => counts.set(kind, (counts.get(kind) ?? 0) + count);
  for (const { emitter, outcome, by, count } of account) {
    if (outcome === "told_again")
      add(`told_again ${JSON.stringify([emitter, by ?? emitter].map(nameOf).sort(unnamedLast))}`, count);
    else if (outcome === "repeats") add(`repeats ${by}`, count);
    else if (outcome === "refused") add("refused", count);
    else add(outcome, count);
  }
  const order = [...sentences.keys()];
  return [...counts]
    .map(([kind, count]) => ({ of: kind.split(" ", 1)[0] as string, kind, count }))
    .sort((a, b) => order.indexOf(a.of) - order.indexOf(b.of) || b.count - a.count)
    .map(({ of, kind, count }) => sentences.get(of)?.(count, kind.slice(of.length + 1)) ?? "");
}

const sentences = new Map<string, (count: number, detail: string) => string>([
  ["recorded", (count) => `${formatCount(count, "call")} recorded.`],
  [
    "told_again",
    (count, detail) => {
      const [one = "", other = ""] = JSON.parse(detail) as string[];
      return one === other
        ? `${formatCount(count, "call")} reported again by ${one}, and counted once.`
        : `${formatCount(count, "call")} reported by both ${one} and ${other}, and counted once.`;
    },
  ],
  ["replayed", (count) => `${formatCount(count, "record")} sent again, and counted once.`],
  [
    "in_sum",
    (count) =>
      `${formatCount(count, "running total")} that ${count === 1 ? "adds" : "add"} nothing to an earlier one.`,
  ],
  [
    "repeats",
    (count, rule) =>
      ({
        contains_calls: `${formatCount(count, "record")} around calls, such as those of agents, left out: the calls count.`,
        told_one_by_one: `${formatCount(count, "sum")} of calls that are reported one by one, left out.`,
      })[rule] ??
      `${formatCount(count, "record")} left out, because other records of the same program report the same calls.`,
  ],
  ["without_counts", (count) => `${formatCount(count, "record")} without token counts, not recorded.`],
  [
    "not_understood",
    (count) =>
      `${formatCount(count, "record")} not understood and not recorded: no known program reports its counts like this.`,
  ],
  ["refused", (count) => `${formatCount(count, "record")} refused.`],
]);

/** How people name emitters that report calls together with others. */
const names: Record<string, string> = {
  "ai-sdk": "the AI SDK",
  "anthropic-sdk": "the Anthropic SDK",
  "claude-code": "Claude Code",
  "claude-platform": "the Claude Platform",
  copilot: "Copilot",
  helicone: "Helicone",
  langfuse: "Langfuse",
  langsmith: "LangSmith",
  litellm: "LiteLLM",
  openinference: "OpenInference",
  openllmetry: "OpenLLMetry",
  openrouter: "OpenRouter",
  opentelemetry: "another library",
  "outlay-client": "Outlay's client",
};

const unnamedLast = (one: string, other: string) => {
  const isUnnamed = (name: string) => Number(name === names.opentelemetry);
  return isUnnamed(one) - isUnnamed(other) || (one < other ? -1 : 1);
};

function nameOf(emitter: string): string {
  return names[emitter] ?? emitter;
}
