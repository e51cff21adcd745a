import type { CostMessage } from "@/lib/contract/ledger/message";
import type { Team, Workload } from "./team";

/** A message of a team with what is known of its sender. Instants are milliseconds since 1970. */
export type TeamMessage = {
  workload: Workload;
  environment: "live" | "test";
  source: "api" | "manual" | "import";
  at: number;
  recordedAt: number;
  message: CostMessage;
  /** Whether it was sent with an idempotency key. */
  hasIdempotencyKey: boolean;
};

const dayMs = 86_400_000;

/** How many customers a team names. */
const customers = 5_000;
const vendors = ["Vercel", "GitHub", "Figma", "Hetzner", "Datadog", "Notion", "Linear", "Sakura Internet"];
const currencies = ["USD", "USD", "USD", "EUR", "GBP", "JPY"];

const pickFrom = <T>(list: readonly T[], random: () => number): T =>
  list[Math.floor(random() * list.length)] as T;

/**
 * The next message of a team that occurs within a UTC day, and not after `until`. Nine in ten are usage, one in fourteen is a
 * batch, the others are expenses, subscriptions and allocations. One in fifty is recorded up to three days late.
 */
export function nextMessage(team: Team, day: number, until: number, random: () => number): TeamMessage {
  const workload = team.pick(random);
  const at = day * dayMs + Math.floor(random() * Math.min(dayMs, until - day * dayMs));
  const late = random() < 0.02 ? Math.floor(random() * 3 * dayMs) : Math.floor(random() * 2_000);
  const sent = messageOf(team, workload, random);
  const user =
    workload.user ?? (random() < 0.05 ? `customer-${Math.floor(random() * customers)}` : undefined);
  if (sent.type === "usage" || sent.type === "batch")
    Object.assign(sent, { tags: workload.tags, ...(user && { user }) });
  const message = { ...sent, occurred_at: new Date(at).toISOString() };
  const isBooked = message.type === "expense" || message.type === "subscription";
  return {
    workload,
    environment: random() < 0.12 ? "test" : "live",
    source: isBooked ? "manual" : random() < 0.05 ? "import" : "api",
    at,
    recordedAt: Math.min(at + late, until),
    message,
    hasIdempotencyKey: random() < 0.1,
  };
}

function messageOf(team: Team, workload: Workload, random: () => number): CostMessage {
  const kind = random();
  if (kind < 0.92) {
    const isLabelled = random() < 0.1;
    return {
      type: "usage",
      provider: workload.provider,
      ...lineOf(workload, random),
      ...(random() < 0.05 && { estimated_cost: (random() * 0.02).toFixed(6) }),
      ...(isLabelled && { label: `run ${Math.floor(random() * 5_000)}`, metadata: { region: "eu" } }),
    };
  }
  if (kind < 0.99) return batchOf(team, workload, random);
  const vendor = pickFrom(vendors, random);
  const currency = pickFrom(currencies, random);
  const amount = (5 + random() * 500).toFixed(currency === "JPY" ? 0 : 2);
  if (kind < 0.997)
    return { type: "expense", vendor, amount, currency, category: "hosting", notes: "invoice" };
  if (kind < 0.9985) {
    const interval = random() < 0.15 ? "year" : "month";
    return {
      type: "subscription",
      vendor,
      amount,
      currency,
      interval,
      plan: "Team",
      seats: 5,
      recurring: false,
    };
  }
  const source = team.projects.find((slug) => slug !== workload.project) ?? "";
  return { type: "allocation", from_project: source, amount: (random() * 0.01).toFixed(6) };
}

function batchOf(team: Team, workload: Workload, random: () => number): CostMessage {
  const size = random() < 0.001 ? 200 : 2 + Math.floor(random() * 9);
  const items = Array.from({ length: size }, (_, index) => {
    const line = index === 0 ? workload : team.pickOf(workload.provider, random);
    return lineOf(line, random);
  });
  return {
    type: "batch",
    provider: workload.provider,
    batch_id: `batch-${Math.floor(random() * 1e9)}`,
    ...(random() < 0.5 && { label: "nightly run" }),
    items,
  };
}

function lineOf({ model, feature, unit }: Workload, random: () => number) {
  const tokens = Math.ceil(200 * (1 / (0.001 + random())) ** 0.8);
  return { model, feature, unit_type: unit, quantity: String(tokens) };
}
