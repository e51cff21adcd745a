import { type Answer, type Simulation, Violation } from "./simulation";
import { day, dayMs, hourMs, type KeyName, type Team } from "./world";

type Operation = (simulation: Simulation, team: Team) => Promise<void>;
let numbers = 0;
/** A key that no other call has. */
export function unique(seed: number): string {
  numbers += 1;
  return `${seed}-${numbers}`;
}
export const restartNumbers = (): void => {
  numbers = 0;
};

const micro = (usd: unknown): number => Math.round(Number(usd) * 1e6);

type Posted = { key: KeyName; body: Record<string, unknown> };

function anyPost({ random, now, seed }: Simulation): Posted {
  const key = random.pick<KeyName>(["full", "full", "full", "limited", "limited", "denied", "denied"]);
  const cents = random.pick([1, 7, 40, 85, 130]);
  const project = random.pick(["checkout", "capped", "capped", "allowed"]);
  const isMidnightNear = (now + 3_000) % dayMs < 6_000;
  const at =
    isMidnightNear && random.chance(0.5)
      ? dayMs
      : random.pick([0, 0, 0, hourMs, dayMs, dayMs, dayMs, 2 * dayMs, 3 * dayMs, 32 * dayMs]);
  const when = at === 0 ? {} : { occurred_at: new Date(now - at).toISOString() };
  const usage = {
    type: "usage",
    provider: "acme",
    model: "fast",
    unit_type: "requests",
    quantity: 1,
    estimated_cost: cents / 100,
  };
  const message = random.chance(key === "denied" ? 0.7 : 0.25)
    ? {
        ...usage,
        feature: random.pick(["chat", "ending", "ending"]),
        session: `s${random.int(1, 9)}`,
        ...when,
      }
    : { type: "expense", vendor: random.pick(["acme", "zeta"]), amount: cents / 100, ...when };
  return { key, body: { project, source: "api", idempotency_key: unique(seed), message } };
}

/** Notes a verdict, and checks what a refusal says. */
function note(team: Team, { key, body }: Posted, status: number, verdict: Answer["body"]): void {
  const { message } = body as { message: { amount?: number; estimated_cost?: number } };
  if (status === 201) {
    const usd = micro(message.amount ?? message.estimated_cost);
    if (micro(verdict.amount_usd) !== usd)
      throw new Violation(`A message of ${usd} was recorded as ${verdict.amount_usd}.`);
    team.entries.set(verdict.id, { id: verdict.id, key, usd, isVoid: false });
    return;
  }
  if (!["budget_exceeded", "monthly_limit_exceeded"].includes(verdict.error))
    throw new Violation(`A message was refused: ${JSON.stringify(verdict)}`);
  if (verdict.error !== "budget_exceeded" || verdict.budget.name !== "ending") return;
  if (Date.parse(verdict.resets_at) > team.endingUntil)
    throw new Violation(`The budget "ending" resets at ${verdict.resets_at}, after its end.`);
  if (key === "denied" && verdict.limit_usd !== undefined)
    throw new Violation("A key that may not use a project is told the figures of a budget of all projects.");
}

export const post: Operation = (simulation, team) => send(simulation, team, anyPost(simulation));

/** Records more than the budget "ending" has, with a key that may not read this budget. */
export const overspend: Operation = (simulation, team) => {
  const message = {
    type: "usage",
    provider: "acme",
    model: "fast",
    unit_type: "requests",
    quantity: 1,
    estimated_cost: 1.3,
    feature: "ending",
  };
  const body = { project: "checkout", source: "api", idempotency_key: unique(simulation.seed), message };
  return send(simulation, team, { key: "denied", body });
};

async function send(simulation: Simulation, team: Team, posted: Posted): Promise<void> {
  const { status, body } = await simulation.call("POST", "/api/v1/messages", {
    secret: team.keys[posted.key].secret,
    body: posted.body,
  });
  note(team, posted, status, body);
}

export const bulk: Operation = async (simulation, team) => {
  const first = anyPost(simulation);
  const posts = [
    first,
    ...Array.from({ length: simulation.random.int(1, 5) }, () => ({
      ...anyPost(simulation),
      key: first.key,
    })),
  ];
  const { status, body } = await simulation.call("POST", "/api/v1/messages/batch", {
    secret: team.keys[first.key].secret,
    body: { messages: posts.map((each) => each.body) },
  });
  if (status !== 207) throw new Violation(`A bulk call was answered ${status}: ${JSON.stringify(body)}`);
  for (const [index, result] of body.results.entries())
    note(team, posts[index] as Posted, result.status, result);
};

/** Records a cost in each of the last months, as a team does that brings its history. */
export const bringHistory: Operation = async (simulation, team) => {
  const { now, seed } = simulation;
  for (let months = 4; months > 0; months -= 1) {
    const message = {
      type: "expense",
      vendor: "acme",
      amount: 0.4,
      occurred_at: new Date(now - months * 31 * dayMs).toISOString(),
    };
    const body = { project: "checkout", source: "api", idempotency_key: unique(seed), message };
    await send(simulation, team, { key: "full", body });
  }
};

/** Charges past months of a subscription, which count towards the key's limit as one sum. */
export const subscribe: Operation = async (simulation, team) => {
  const { random, now, seed } = simulation;
  const key = random.pick<KeyName>(["subscriber", "full"]);
  const message = {
    type: "subscription",
    vendor: "acme",
    amount: random.pick([1, 1.5, 2]),
    interval: "month",
    recurring: true,
    starts_on: day(now - random.int(1, 5) * 31 * dayMs),
  };
  const { status, body } = await simulation.call("POST", "/api/v1/messages", {
    secret: team.keys[key].secret,
    body: { project: "checkout", source: "api", idempotency_key: unique(seed), message },
  });
  if (status !== 201) {
    if (body.error !== "monthly_limit_exceeded")
      throw new Violation(`A subscription was refused: ${JSON.stringify(body)}`);
    return;
  }
  for (const { id, amount_usd } of [body, ...(body.due_periods ?? [])])
    team.entries.set(id, { id, key, usd: micro(amount_usd), isVoid: false });
};

/** Voids or corrects a message. Only messages of a key without a limit are raised. */
export const correct: Operation = async (simulation, team) => {
  const { random, seed } = simulation;
  const entry = [...team.entries.values()]
    .filter(({ key, isVoid }) => key === "full" && !isVoid)
    .at(-random.int(1, 6));
  if (!entry) return;
  entry.isVoid = true;
  const isVoiding = random.chance(0.2);
  const amount = random.pick([0.3, 1.4, 2.6]);
  const project = random.pick(["capped", "capped", "checkout"]);
  const body = {
    reason: "A wrong amount.",
    idempotency_key: unique(seed),
    ...(!isVoiding && {
      project,
      message: {
        type: "expense",
        vendor: "acme",
        amount,
        tags: { team: "core", stage: "live", region: "eu" },
      },
    }),
  };
  const { status, body: answer } = await simulation.call(
    "POST",
    `${team.path}/messages/${entry.id}/${isVoiding ? "void" : "correct"}`,
    { secret: team.owner.token, body, hangsUp: random.chance(0.2) },
  );
  if (status === 200 || status === 201) {
    const { correction } = answer;
    if (correction)
      team.entries.set(correction.id, { id: correction.id, key: "full", usd: micro(amount), isVoid: false });
    return;
  }
  entry.isVoid = false;
  if (answer.error !== "budget_exceeded")
    throw new Violation(`A correction was refused: ${status} ${JSON.stringify(answer)}`);
};

/** Reserves, and then settles the reservation, releases it, or leaves it to the clock. */
export const reserve: Operation = async (simulation, team) => {
  const { random, seed } = simulation;
  const key = random.pick<KeyName>(["limited", "full"]);
  const { secret } = team.keys[key];
  const usd = random.pick([0.2, 0.9, 1.3]);
  const message = { type: "usage", provider: "acme", model: "fast", unit_type: "requests", quantity: 1 };
  const reserved = await simulation.call("POST", "/api/v1/reservations", {
    secret,
    body: {
      project: "capped",
      idempotency_key: unique(seed),
      expires_in_seconds: random.pick([10, 60, 300]),
      message: { ...message, estimated_cost: usd },
    },
  });
  if (reserved.status !== 201) {
    if (!["budget_exceeded", "monthly_limit_exceeded"].includes(reserved.body.error))
      throw new Violation(`A reservation was refused: ${JSON.stringify(reserved.body)}`);
    return;
  }
  const { id, expires_at: endsAt } = reserved.body;
  team.held.set(id, { key, usd: micro(usd), endsAt: Date.parse(endsAt) });
  const end = random.pick(["settle", "settle", "release", "leave"]);
  if (end === "leave") return;
  await simulation.scheduler.sleep(random.pick([5, 500, 20_000]));
  if (end === "release") {
    const { status, body } = await simulation.call("DELETE", `/api/v1/reservations/${id}`, { secret });
    if (![200, 204, 409].includes(status))
      throw new Violation(`A reservation was not released: ${JSON.stringify(body)}`);
    team.held.delete(id);
    return;
  }
  const cost = random.pick([usd, usd / 2]);
  const posted = {
    key,
    body: {
      project: "capped",
      source: "api",
      idempotency_key: unique(seed),
      reservation_id: id,
      message: { ...message, estimated_cost: cost },
    },
  };
  const { status, body } = await simulation.call("POST", "/api/v1/messages", { secret, body: posted.body });
  note(team, posted, status, body);
  if (status === 201) team.held.delete(id);
};

/** Raises the limit of the budget that blocks. */
export const raiseLimit: Operation = async (simulation, team) => {
  const amount = 6 + simulation.random.int(1, 8);
  const { status, body } = await simulation.call("PATCH", `${team.path}/budgets/${team.budgets.everything}`, {
    secret: team.owner.token,
    body: { amount: 20 + amount },
  });
  if (status !== 200) throw new Violation(`A budget was not changed: ${JSON.stringify(body)}`);
};
