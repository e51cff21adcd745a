import { z } from "zod";
import { type Ask, optionalText, unlessMissing } from "@/lib/bills/pulls/provider";
import type { Registrar, Standing } from "./registrar";

// Shapes of @anthropic-ai/sdk 1.14.0, resources/beta/organization/telemetry-destinations.
const beta = { "anthropic-beta": "telemetry-destinations-2026-08-11" };
const path = "/v1/organizations/telemetry_destinations";
const pathOf = (id: string) => `${path}/${encodeURIComponent(id)}`;

const destination = z.object({
  id: z.string(),
  display_name: optionalText,
  state: z.object({ type: z.string(), reason: z.object({ type: z.string() }).nullish() }),
  delivery_health: z
    .object({ last_error: optionalText, last_error_at: optionalText, last_success_at: optionalText })
    .nullish(),
});
type Found = z.output<typeof destination>;
const page = z.object({ data: z.array(destination), next_page: optionalText });
const tested = z.object({ result: z.object({ type: z.string(), error: optionalText }) });

async function listNamed(ask: Ask, name: string): Promise<string[]> {
  const ids: string[] = [];
  for (let next: string | null | undefined; ; ) {
    const answer = await ask(path, next ? [["page", next]] : [], page, beta);
    ids.push(...answer.data.filter((each) => each.display_name === name).map(({ id }) => id));
    next = answer.next_page;
    if (!next) return ids;
  }
}

const removeOne = (ask: Ask, id: string) =>
  unlessMissing(ask(pathOf(id), [], z.unknown(), beta, undefined, "DELETE"));

/** Why Anthropic disabled a destination, in its own names. */
const reasons: Record<string, string> = {
  caller: "Somebody disabled it there.",
  sustained_failure: "Anthropic disabled it, because its deliveries failed for too long (sustained_failure).",
  invalid_address:
    "Anthropic disabled it, because it could not resolve this service's address to a public one (invalid_address).",
  redirect: "Anthropic disabled it, because this service's address answered with a redirect (redirect).",
};

function standingOf({ state, delivery_health: health }: Found): Standing {
  const { last_error: error, last_error_at: failedAt, last_success_at: succeededAt } = health ?? {};
  if (state.type !== "enabled") {
    const reason = state.reason?.type ?? "unknown";
    return { state: "disabled", problem: reasons[reason] ?? `It is disabled there (${reason}).` };
  }
  const fails = error && failedAt && (!succeededAt || Date.parse(succeededAt) < Date.parse(failedAt));
  return fails
    ? { state: "failing", problem: `Anthropic could not deliver: ${error}` }
    : { state: "registered", problem: null };
}

/** Anthropic: a telemetry destination for all workspaces of the organization, which sends a span for each call, without content. */
export const anthropic: Registrar = {
  register: async (ask, { name, base, authorization }) => {
    for (const id of await listNamed(ask, name)) await removeOne(ask, id);
    const body = {
      endpoint_url: base,
      headers: { authorization },
      workspaces: { type: "all" },
      display_name: name,
      traces: { enabled: true, content_mode: "metadata_only" },
    };
    const { id } = await ask(path, [], destination, beta, body);
    return [{ id }];
  },
  read: async (ask, [first]) => {
    const found = first && (await unlessMissing(ask(pathOf(first.id), [], destination, beta)));
    return found ? standingOf(found) : { state: "gone", problem: "Anthropic no longer has the destination." };
  },
  test: async (ask, [first]) => {
    if (!first) return undefined;
    const { result } = await ask(`${pathOf(first.id)}/test`, [], tested, beta, undefined, "POST");
    return result.type === "success" ? undefined : (result.error ?? "no reason given");
  },
  remove: async (ask, destinations, name) => {
    const ids = destinations.length > 0 ? destinations.map(({ id }) => id) : await listNamed(ask, name);
    for (const id of ids) await removeOne(ask, id);
  },
};
