import { chatCall, exportPoints, exportSpans } from "@/tests/helpers/otlp";
import { unique } from "./ledger-operations";
import { type Simulation, Violation } from "./simulation";
import { hourMs, type Reported, type Team } from "./world";

let calls = 0;
let traces = 0;
export const restartCalls = (): void => {
  calls = 0;
  traces = 0;
};

async function send(
  simulation: Simulation,
  team: Team,
  key: "source" | "picky" | "meter",
  { signal, body }: { signal: string; body: unknown },
) {
  const answer = await simulation.call("POST", `/api/otlp/v1/${signal}`, {
    secret: team.keys[key].secret,
    body,
  });
  if (answer.status !== 200)
    throw new Violation(`An export was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** One telling of a call, by a library in a trace of its own. A library tells the output of an aborted stream as one token or as none. */
function tell(call: Reported, scope: string) {
  traces += 1;
  const output = call.output > 1 ? call.output : call.tellings % 2;
  call.tellings += 1;
  const attributes = {
    ...chatCall,
    "gen_ai.usage.input_tokens": call.input,
    "gen_ai.usage.output_tokens": output,
    ...(call.cached > 0 && { "gen_ai.usage.cache_read.input_tokens": call.cached }),
    ...(call.response && { "gen_ai.response.id": call.response }),
  };
  return exportSpans(
    [{ id: `${traces}`, trace: `${traces}`, startMs: call.endMs - 400, endMs: call.endMs, attributes }],
    { scope },
  );
}

/** A call of a model that one or two libraries report. */
export async function report(simulation: Simulation, team: Team): Promise<void> {
  const { random, now, seed } = simulation;
  calls += 1;
  const input = 1_000 + calls;
  const call: Reported = {
    response: random.chance(0.5) ? `chatcmpl-${seed}x${calls}x${"a1B2c3D4e5F6g7H8".slice(0, 12)}` : undefined,
    atMs: now,
    input,
    cached: random.pick([0, 0, 10, input]),
    output: random.pick([0, 0, 60]),
    tellings: 0,
    endMs: now - random.int(0, 5_000),
  };
  team.reported.push(call);
  const scopes = random.chance(0.5) ? ["http", "sdk"] : ["http"];
  await Promise.all(scopes.map((scope) => send(simulation, team, "source", tell(call, scope))));
}

/** A report by another library that comes late: within a day, it is of the same call. */
export async function reportLate(simulation: Simulation, team: Team): Promise<void> {
  const { random, now } = simulation;
  const known = team.reported.filter(({ atMs }) => now - atMs < 22 * hourMs);
  if (known.length === 0) return;
  const call = random.pick(known);
  await send(simulation, team, "source", tell(call, `late ${traces}`));
}

/** A late report of a call without an id, as late as it may be: what was told of it is all that it can be recognised by. */
export async function reportLatest(simulation: Simulation, team: Team): Promise<void> {
  const call = team.reported.find(
    ({ atMs, response }) => response === undefined && simulation.now - atMs < 22 * hourMs,
  );
  if (call) await send(simulation, team, "source", tell(call, `latest ${traces}`));
}

/** Running totals of a meter, which often do not grow. */
export async function meter(simulation: Simulation, team: Team): Promise<void> {
  if (team.isMetering) return;
  team.isMetering = true;
  const { random, now } = simulation;
  const model = random.pick(["gpt-4o", "gpt-4o-mini"]);
  const start = Math.floor(now / 1000) * 1000 - 60_000;
  const series = team.totals.get(model) ?? { value: 0, startMs: start, timeMs: start };
  team.totals.set(model, series);
  const points = Array.from({ length: random.int(1, 3) }, () => {
    series.value += random.pick([0, 0, 25, 100]);
    series.timeMs += 1_000;
    return { start: series.startMs / 1000, time: series.timeMs / 1000, value: series.value };
  });
  await send(
    simulation,
    team,
    "meter",
    exportPoints(points, { attributes: { "gen_ai.provider.name": "openai", "gen_ai.request.model": model } }),
  );
  const pending = "select from private.running_totals where workspace_id = $1 and pending <> '[]'";
  if ((await simulation.sql(pending, [team.id])).length > 0)
    throw new Violation("A running total was not settled when its export was answered.");
  team.isMetering = false;
}

/** Exports that a key may not record are kept, and recorded when they are sent again. */
export async function refuseAndReplay(simulation: Simulation, team: Team): Promise<void> {
  const { random } = simulation;
  if (team.isReplaying) return;
  team.isReplaying = true;
  try {
    const { id } = team.keys.picky;
    const count = random.pick([1, 20, 21]);
    const disturbances = simulation.disturbances;
    for (let index = 0; index < count; index += 1) {
      calls += 1;
      traces += 1;
      const attributes = {
        ...chatCall,
        "outlay.project": "secret",
        "gen_ai.usage.input_tokens": 5_000 + calls,
      };
      await send(
        simulation,
        team,
        "picky",
        exportSpans([{ id: `${traces}`, trace: `${traces}`, attributes }], { endMs: simulation.now }),
      );
    }
    await simulation.scheduler.sleep(8_000);
    const kept = await simulation.sql(
      "select count(*)::int as count from public.refused_exports where api_key_id = $1",
      [id],
    );
    if (kept[0].count > 20)
      throw new Violation(`${kept[0].count} refused exports of a source are kept, more than 20.`);
    const allow = (projects: string[]) =>
      simulation.call("PATCH", `${team.path}/api-keys/${id}`, {
        secret: team.owner.token,
        body: { conditions: { project_slugs: projects } },
      });
    const allowed = await allow(["allowed", "secret"]);
    if (allowed.status !== 200) throw new Violation(`A key was not changed: ${JSON.stringify(allowed.body)}`);
    const { status, body } = await simulation.call("POST", `${team.path}/sources/${id}/replay`, {
      secret: team.owner.token,
      body: {},
    });
    if (status !== 200) throw new Violation(`Refused records were not sent again: ${JSON.stringify(body)}`);
    await simulation.scheduler.sleep(8_000);
    const left = await simulation.sql(
      "select coalesce(sum(record_count), 0)::int as count from public.refused_exports where api_key_id = $1",
      [id],
    );
    if (left[0].count > 0 && body.refused === 0)
      throw new Violation(`${left[0].count} records that were recorded are still kept as refused.`);
    if (
      disturbances === simulation.disturbances &&
      kept[0].count !== Math.min(count, 20) &&
      team.replays === 0
    )
      throw new Violation(`Of ${count} refused exports, ${kept[0].count} are kept.`);
    team.replays += 1;
    await allow(["allowed"]);
  } finally {
    team.isReplaying = false;
  }
}

/** A gateway's delivery that cannot be read is refused, and noted for its source. */
export async function deliverUnreadable(simulation: Simulation, team: Team): Promise<void> {
  const { id, secret } = team.keys.source;
  const counted = async () => {
    const [row] = await simulation.sql(
      "select coalesce(sum(refused_count), 0)::int as count from public.source_refusals where api_key_id = $1 and not of_record",
      [id],
    );
    return row.count as number;
  };
  const [before, disturbances] = [await counted(), simulation.disturbances];
  const body = simulation.random.pick<unknown>([
    "not JSON",
    [{ id: unique(simulation.seed), model: "gpt-4o", prompt_tokens: "many" }],
  ]);
  const { status } = await simulation.call("POST", "/api/v1/sources/litellm", { secret, body });
  if (status !== 400) throw new Violation(`A delivery that cannot be read was answered ${status}.`);
  await simulation.scheduler.sleep(4_000);
  if ((await counted()) === before && simulation.disturbances === disturbances)
    throw new Violation("A delivery that cannot be read was not noted for its source.");
}
