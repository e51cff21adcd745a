import { toolCall } from "@/tests/helpers/tool-call";
import { unique } from "./ledger-operations";
import { type Simulation, Violation } from "./simulation";
import { day, type Team, type User } from "./world";

/** An invitation for one address is nobody else's. */
export async function invite(simulation: Simulation, team: Team): Promise<void> {
  const email = `${unique(simulation.seed)}@example.com`;
  const invited = await simulation.call("POST", `${team.path}/invitations`, {
    secret: team.owner.token,
    body: { role: "viewer", email },
  });
  if (invited.status === 429) return;
  if (invited.status !== 201) throw new Violation(`Nobody was invited: ${JSON.stringify(invited.body)}`);
  const token = invited.body.link.split("/").at(-1);
  const { status } = await simulation.call("POST", `/api/v1/invitations/${token}/accept`, {
    secret: team.guest.token,
  });
  if (status < 400) throw new Violation(`An invitation for ${email} was accepted by ${team.guest.email}.`);
}

/** A person whose account is deleted has no session left once the deletion is answered. */
export async function deleteAccount(simulation: Simulation, _: Team): Promise<void> {
  const email = `leaver-${unique(simulation.seed)}@example.com`;
  const { status, body } = await simulation.call("POST", "/auth/v1/signup", {
    body: { email, password: "correct horse battery" },
  });
  if (status !== 200) return;
  const user: Pick<User, "id" | "token"> = { id: body.user.id, token: body.access_token };
  const deleted = await simulation.call("POST", "/api/v1/me/deletion", {
    secret: user.token,
    body: { email },
  });
  // An earlier try deleted the account, and its answer was lost.
  if (deleted.status === 401 || deleted.body.error === "account_deleted") return;
  if (deleted.status !== 200)
    throw new Violation(`An account was not deleted: ${JSON.stringify(deleted.body)}`);
  const [{ count }] = await simulation.sql(
    "select count(*)::int as count from auth.sessions where user_id = $1",
    [user.id],
  );
  if (count > 0) throw new Violation("A deleted account has a session when the deletion is answered.");
}

/** A tool call that a client repeats after it hung up is recorded once, by whichever process. */
export async function callTool(simulation: Simulation, team: Team): Promise<void> {
  const { random, seed } = simulation;
  const label = unique(seed);
  const args = {
    project: "checkout",
    provider: "tools",
    model: label,
    unit_type: "requests",
    quantity: 1,
    estimated_cost: 0.02,
  };
  const { body, headers } = toolCall("2026", "log_usage", args, { id: random.int(1, 9) });
  const { secret } = team.keys.full;
  const before = simulation.disturbances;
  for (let tries = 0; tries < 40; tries += 1) {
    const answer = await simulation
      .once("POST", "/api/mcp", { secret, body, headers, hangsUp: tries < 2 && random.chance(0.6) })
      .catch(() => undefined);
    if (answer?.status === 200 && !answer.body.result?.isError) break;
    do await simulation.scheduler.sleep(500);
    while (simulation.processes.alive.some(({ inbox }) => inbox.length > 0));
  }
  await simulation.scheduler.sleep(1_000);
  const rows = await simulation.sql(
    "select id, amount_usd::float8 as usd from public.messages where workspace_id = $1 and model = $2 and part = 0 and voids is null",
    [team.id, label],
  );
  for (const { id, usd } of rows)
    team.entries.set(id, { id, key: "full", usd: Math.round(usd * 1e6), isVoid: false });
  if (rows.length !== 1 && simulation.disturbances === before)
    throw new Violation(`A tool call was recorded ${rows.length} times.`);
}

/** What limits each key: budgets on their last day too, and figures only of what the key may read. */
export async function readLimits(simulation: Simulation, team: Team): Promise<void> {
  for (const key of ["full", "denied", "limited"] as const) {
    const { secret } = team.keys[key];
    const before = day(simulation.now);
    const { status, body } = await simulation.call("GET", "/api/v1/limits", { secret });
    if (status !== 200) throw new Violation(`Limits were answered ${status}: ${JSON.stringify(body)}`);
    const named = (wanted: string) => body.budgets.find(({ name }: { name: string }) => name === wanted);
    const ending = named("ending");
    const isCounting = simulation.now < team.endingUntil;
    // Blocking budgets are named in any case, and have figures only while they count.
    if (key === "full" && before === day(simulation.now) && (ending?.limit_usd != null) !== isCounting)
      throw new Violation(
        `A budget that ends at ${new Date(team.endingUntil).toISOString()} is ${isCounting ? "missing" : "shown"} on ${before}.`,
      );
    if (ending && Date.parse(ending.resets_at) > team.endingUntil)
      throw new Violation(`The budget "ending" resets at ${ending.resets_at}, after its end.`);
    if (key === "denied" && named("everything")?.limit_usd != null)
      throw new Violation("A key that may not use a project reads the figures of a budget of all projects.");
  }
}

/** Lists everything by two pages, the last of which is often exactly full, while nothing is added. */
export async function readPages(simulation: Simulation, team: Team): Promise<void> {
  const [{ alerts }] = await simulation.sql(
    "select count(*)::int as alerts from public.alerts where workspace_id = $1",
    [team.id],
  );
  const listed = await list(simulation, team, "alerts", "alerts", "id", alerts);
  const [{ after }] = await simulation.sql(
    "select count(*)::int as after from public.alerts where workspace_id = $1",
    [team.id],
  );
  if (alerts === after && listed.length !== alerts)
    throw new Violation(`Of ${alerts} alerts, ${listed.length} are listed.`);
  const count =
    "select count(distinct session)::int as count from public.messages where workspace_id = $1 and environment = 'live' and session is not null and voids is null and voided_by is null";
  const [{ count: sessions }] = await simulation.sql(count, [team.id]);
  const shown = await list(
    simulation,
    team,
    "sessions?period=all&sort=-time",
    "sessions",
    "session",
    sessions,
  );
  const [{ count: then }] = await simulation.sql(count, [team.id]);
  if (sessions === then && shown.length < sessions)
    throw new Violation(`Of ${sessions} sessions, ${shown.length} are listed.`);
}

async function list(
  simulation: Simulation,
  team: Team,
  path: string,
  name: string,
  id: string,
  count: number,
): Promise<string[]> {
  const limit = Math.min(Math.max(Math.ceil(count / 2), 1), 100);
  const found: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query: string = `${path.includes("?") ? "&" : "?"}limit=${limit}${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ""}`;
    const { status, body } = await simulation.call("GET", `${team.path}/${path}${query}`, {
      secret: team.owner.token,
    });
    if (status !== 200) throw new Violation(`${path} was answered ${status}: ${JSON.stringify(body)}`);
    found.push(...body[name].map((row: Record<string, string>) => row[id]));
    cursor = body.next_cursor;
    if (found.length > 500) throw new Violation(`The pages of ${path} do not end.`);
  }
  return found;
}
