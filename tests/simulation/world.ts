import { addChannel } from "@/tests/helpers/alerts";
import type { KeyOptions } from "@/tests/helpers/keys";
import type { Simulation } from "./simulation";

export const dayMs = 86_400_000;
export const hourMs = 3_600_000;

/** A message that was acknowledged, or is being sent. `usd`: millionths of a dollar. */
export type Entry = { id: string; key: KeyName; usd: number; isVoid: boolean };

/** A call of a model that programs report, perhaps several times. */
export type Reported = {
  response: string | undefined;
  atMs: number;
  input: number;
  cached: number;
  output: number;
  /** How often it was reported. */
  tellings: number;
  endMs: number;
};

export type User = { email: string; password: string; id: string; token: string; signedInAt: number };
export type KeyName = "full" | "limited" | "subscriber" | "denied" | "source" | "picky" | "meter";
export type Key = { id: string; secret: string };

const keys: Record<KeyName, KeyOptions> = {
  full: {},
  limited: { monthly_limit: "5" },
  subscriber: { monthly_limit: "4" },
  denied: { conditions: { deny_project_slugs: ["secret"] } },
  source: {},
  picky: { conditions: { project_slugs: ["allowed"] } },
  meter: {},
};

/** A workspace with its people, keys, budgets and channels, and what the clients know of it. */
export type Team = {
  id: string;
  slug: string;
  path: string;
  owner: User;
  guest: User;
  keys: Record<KeyName, Key>;
  budgets: Record<string, string>;
  /** What was acknowledged, by the message's id. */
  entries: Map<string, Entry>;
  reported: Reported[];
  /** The tokens that running totals have reached, by series. */
  totals: Map<string, { value: number; startMs: number; timeMs: number }>;
  /** When each held reservation ends, and what it holds. */
  held: Map<string, { key: KeyName; usd: number; endsAt: number }>;
  /** When the budget "ending" stops counting. */
  endingUntil: number;
  /** What runs once at a time, or once. */
  isReplaying: boolean;
  replays: number;
  hasHung: boolean;
  isSweeping: boolean;
  isMetering: boolean;
};

/** The last day on which the budget "ending" counts. */
export const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export async function makeTeam(simulation: Simulation): Promise<Team> {
  const { fixtures, now, seed } = simulation;
  const slug = `w-${seed}`;
  const id = await fixtures.workspace(slug);
  const owner = await signUp(simulation, `owner-${seed}@example.com`);
  const guest = await signUp(simulation, `guest-${seed}@example.com`);
  await fixtures.sql.query(
    "insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'owner')",
    [id, owner.id],
  );
  for (const project of ["checkout", "allowed", "secret", "capped"]) await fixtures.project(id, project);
  const made = {} as Record<KeyName, Key>;
  for (const [name, options] of Object.entries(keys))
    made[name as KeyName] = await fixtures.key(id, options, simulation.newSecret());
  const path = `/api/v1/workspaces/${slug}`;
  const budgets: Record<string, string> = {};
  const wanted = {
    everything: { scope_type: "global", amount: 20 },
    capped: { scope_type: "project", scope_value: "capped", amount: 6, blocks: true },
    ending: {
      scope_type: "feature",
      scope_value: "ending",
      amount: 1,
      blocks: true,
      starts_on: day(now - 3 * dayMs),
      ends_on: day(now + dayMs),
    },
  };
  for (const [name, body] of Object.entries(wanted)) {
    const answer = await simulation.run(
      simulation.call("POST", `${path}/budgets`, {
        secret: owner.token,
        body: { name, allow_unknown_scope: true, ...body },
      }),
    );
    if (answer.status !== 201) throw new Error(`No budget: ${JSON.stringify(answer.body)}`);
    budgets[name] = answer.body.id;
  }
  for (const name of ["well", "flaky", "down"] as const) {
    simulation.receivers.manners.set(name, name);
    await addChannel(fixtures, id, {
      id: simulation.random.uuid(),
      name,
      address: `https://hooks.example.com/${name}`,
    });
  }
  return {
    id,
    slug,
    path,
    owner,
    guest,
    keys: made,
    budgets,
    entries: new Map(),
    reported: [],
    totals: new Map(),
    held: new Map(),
    isReplaying: false,
    replays: 0,
    hasHung: false,
    isSweeping: false,
    isMetering: false,
    endingUntil: Date.parse(`${day(now + dayMs)}T00:00:00Z`) + dayMs,
  };
}

export async function signUp(simulation: Simulation, email: string): Promise<User> {
  const password = "correct horse battery";
  const { status, body } = await simulation.run(
    simulation.call("POST", "/auth/v1/signup", { body: { email, password } }),
  );
  if (status !== 200) throw new Error(`Nobody was signed up: ${JSON.stringify(body)}`);
  return { email, password, id: body.user.id, token: body.access_token, signedInAt: simulation.now };
}

/** Signs people in again whose tokens are about to expire. */
export async function refresh(simulation: Simulation, ...users: User[]): Promise<void> {
  for (const user of users) {
    if (simulation.now - user.signedInAt < hourMs / 2) continue;
    const { email, password } = user;
    const { body, status } = await simulation.run(
      simulation.call("POST", "/auth/v1/token?grant_type=password", { body: { email, password } }),
    );
    if (status !== 200) throw new Error(`Nobody was signed in: ${JSON.stringify(body)}`);
    Object.assign(user, { token: body.access_token, signedInAt: simulation.now });
  }
}
