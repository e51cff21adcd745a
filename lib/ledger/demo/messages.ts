import type { CostedMessage } from "@/lib/ledger/ingest/compose";
import { seededRandom } from "./random";

/**
 * A message of the demo with its project and the time at which it was recorded (ms since 1970). `program`: the source that reported it;
 * missing if it came through the API or was entered by hand.
 */
export type DemoMessage = {
  project: string;
  at: number;
  source: "api" | "mcp" | "manual" | "import";
  program?: DemoProgram | undefined;
  message: CostedMessage;
};

/** The programs that report calls, by the name of their emitter. */
export type DemoProgram = "claude-code" | "ai-sdk";

export const demoProjects = [
  { slug: "support-assistant", name: "Support assistant", team: "customer-care" },
  { slug: "code-review", name: "Code review", team: "platform" },
  { slug: "search", name: "Search", team: "platform" },
  { slug: "document-intake", name: "Document intake", team: "customer-care" },
  { slug: "marketing-site", name: "Marketing site", team: "growth" },
  { slug: "research", name: "Research", team: "growth" },
];

/** The people who used the models: the engineers use Claude Code, the others the assistant and the tools of the team. */
const people = {
  engineers: ["aiko@demo.example", "bruno@demo.example", "chidi@demo.example", "dalia@demo.example"],
  others: ["emil@demo.example", "farah@demo.example", "gita@demo.example"],
};

/**
 * The workloads of each project: provider, model, feature, tokens of a typical message, and messages per weekday. Programs that
 * report calls name their person and session.
 */
const workloads: readonly {
  project: string;
  provider: string;
  model: string;
  feature: string;
  program?: DemoProgram;
  people?: keyof typeof people;
  input: number;
  output: number;
  daily: number;
}[] = [
  {
    project: "code-review",
    provider: "anthropic",
    model: "claude-sonnet-4-5",
    feature: "coding",
    program: "claude-code",
    people: "engineers",
    input: 640_000,
    output: 48_000,
    daily: 6,
  },
  {
    project: "support-assistant",
    provider: "anthropic",
    model: "claude-sonnet-4-5",
    feature: "chat",
    program: "ai-sdk",
    people: "others",
    input: 2_400_000,
    output: 310_000,
    daily: 5,
  },
  {
    project: "support-assistant",
    provider: "openai",
    model: "gpt-4o-mini",
    feature: "triage",
    program: "ai-sdk",
    people: "others",
    input: 3_100_000,
    output: 260_000,
    daily: 4,
  },
  {
    project: "code-review",
    provider: "anthropic",
    model: "claude-opus-4-1",
    feature: "review",
    people: "engineers",
    input: 420_000,
    output: 52_000,
    daily: 3,
  },
  {
    project: "code-review",
    provider: "openai",
    model: "gpt-4.1",
    feature: "summaries",
    input: 900_000,
    output: 120_000,
    daily: 2,
  },
  {
    project: "search",
    provider: "openai",
    model: "text-embedding-3-small",
    feature: "indexing",
    input: 24_000_000,
    output: 0,
    daily: 3,
  },
  {
    project: "search",
    provider: "google",
    model: "gemini-2.5-flash",
    feature: "answers",
    input: 5_200_000,
    output: 640_000,
    daily: 4,
  },
  {
    project: "document-intake",
    provider: "google",
    model: "gemini-2.5-pro",
    feature: "extraction",
    input: 1_300_000,
    output: 150_000,
    daily: 3,
  },
  {
    project: "document-intake",
    provider: "mistral",
    model: "mistral-large-latest",
    feature: "classification",
    input: 800_000,
    output: 60_000,
    daily: 2,
  },
  {
    project: "marketing-site",
    provider: "openai",
    model: "gpt-4o",
    feature: "copy",
    input: 260_000,
    output: 90_000,
    daily: 1,
  },
  {
    project: "research",
    provider: "openai",
    model: "o3",
    feature: "experiments",
    input: 700_000,
    output: 240_000,
    daily: 1,
  },
  {
    project: "research",
    provider: "in-house",
    model: "ranker-7b",
    feature: "experiments",
    input: 1_800_000,
    output: 0,
    daily: 1,
  },
];

/** The monthly invoices: project, vendor, amount, currency, day of the month, category. */
const invoices = [
  {
    project: "marketing-site",
    vendor: "Vercel",
    amount: "240",
    currency: "USD",
    day: 3,
    category: "hosting",
  },
  { project: "code-review", vendor: "GitHub", amount: "189", currency: "USD", day: 5, category: "software" },
  { project: "search", vendor: "Hetzner", amount: "312.40", currency: "EUR", day: 7, category: "hosting" },
  { project: "marketing-site", vendor: "Figma", amount: "135", currency: "USD", day: 9, category: "design" },
  {
    project: "document-intake",
    vendor: "Sakura Internet",
    amount: "28600",
    currency: "JPY",
    day: 12,
    category: "hosting",
  },
  {
    project: "research",
    vendor: "Weights & Biases",
    amount: "200",
    currency: "USD",
    day: 15,
    category: "software",
  },
] as const;

const dayMs = 86_400_000;
const months = 4;

/**
 * Generates four months of a plausible team's messages, up to `now` (ms since 1970): fewer on weekends, slow growth, one
 * spike, and one model without a price. The result depends on `now` only.
 */
export function demoMessages(now: number): DemoMessage[] {
  const random = seededRandom(20_261_121);
  const today = new Date(now);
  const start = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - (months - 1), 1);
  // The spike: nine days ago, an agent ran in a loop.
  const spikeDay = Math.floor(now / dayMs) - 9;
  const found: DemoMessage[] = [];
  for (let day = Math.floor(start / dayMs); day * dayMs < now; day += 1) {
    const weekday = new Date(day * dayMs).getUTCDay();
    const quiet = weekday === 0 || weekday === 6 ? 0.3 : 1;
    const growth = 1 + 0.3 * ((day * dayMs - start) / (now - start));
    for (const work of workloads) {
      const spike = day === spikeDay && work.feature === "review" ? 6 : 1;
      for (let use = 0; use < Math.max(1, Math.round(work.daily * quiet)) * spike; use += 1) {
        const at = day * dayMs + Math.floor((7 + random() * 12) * 3_600_000);
        const share = growth * (0.6 + random() * 0.8);
        const about = attribute(work, day, random());
        for (const [unit, tokens] of [
          ["input_tokens", work.input],
          ["output_tokens", work.output],
        ] as const) {
          if (tokens === 0 || at > now) continue;
          found.push({
            project: work.project,
            at,
            source: "api",
            program: work.program,
            message: usage(work, unit, Math.round(tokens * share), about),
          });
        }
      }
    }
    const date = new Date(day * dayMs).getUTCDate();
    for (const invoice of invoices.filter((each) => each.day === date)) {
      const { project, day: _, ...rest } = invoice;
      const at = day * dayMs + 9 * 3_600_000;
      if (at <= now) found.push({ project, at, source: "manual", message: { type: "expense", ...rest } });
    }
  }
  return found;
}

/** The person and session of a usage, and the tag of its team. @param chance from 0 to below 1, chooses the person */
function attribute({ project, program, people: group }: Workload, day: number, chance: number) {
  const among = group ? people[group] : [];
  const user = among[Math.floor(chance * among.length)];
  const { team = "" } = demoProjects.find(({ slug }) => slug === project) ?? {};
  return {
    tags: { team },
    ...(user !== undefined && { user }),
    ...(program && { session: `${user?.split("@")[0]}-${new Date(day * dayMs).toISOString().slice(0, 10)}` }),
  };
}

type Workload = (typeof workloads)[number];

function usage(
  { provider, model, feature }: Workload,
  unitType: string,
  quantity: number,
  about: ReturnType<typeof attribute>,
): CostedMessage {
  return {
    type: "usage",
    provider,
    model,
    feature,
    unit_type: unitType,
    quantity: String(quantity),
    ...about,
  };
}
