import { z } from "zod";
import { type Ask, optionalText, ProviderFailure, unlessMissing } from "@/lib/bills/pulls/provider";
import { readByOffset } from "@/lib/bills/pulls/read-by-offset";
import type { Destination, Registrar, Standing } from "./registrar";

// Shapes of @openrouter/sdk 1.3.19, funcs/observability* and funcs/workspaces*.
const path = "/api/v1/observability/destinations";
const pathOf = (id: string) => `${path}/${encodeURIComponent(id)}`;
const workspacesPath = "/api/v1/workspaces";

const workspace = z.object({
  id: z.string(),
  name: z.string(),
  is_observability_broadcast_enabled: z.boolean(),
});
type Workspace = z.output<typeof workspace>;
const workspacePage = z.object({ data: z.array(workspace) });
const destination = z.object({ id: z.string(), name: optionalText, enabled: z.boolean().default(true) });
const destinationPage = z.object({ data: z.array(destination) });

const listWorkspaces = (ask: Ask) =>
  readByOffset((offset) => ask(workspacesPath, [["offset", offset]], workspacePage));
const listDestinations = (ask: Ask, workspaceId: string) =>
  readByOffset((offset) =>
    ask(
      path,
      [
        ["workspace_id", workspaceId],
        ["limit", "100"],
        ["offset", offset],
      ],
      destinationPage,
    ),
  );

const removeOne = (ask: Ask, id: string) =>
  unlessMissing(ask(pathOf(id), [], z.unknown(), {}, undefined, "DELETE"));
const turnBroadcast = (ask: Ask, id: string, isOn: boolean) =>
  unlessMissing(
    ask(
      `${workspacesPath}/${encodeURIComponent(id)}`,
      [],
      z.unknown(),
      {},
      { is_observability_broadcast_enabled: isOn },
      "PATCH",
    ),
  );

async function removeNamed(ask: Ask, workspaceId: string, name: string): Promise<void> {
  for (const each of await listDestinations(ask, workspaceId))
    if (each.name === name) await removeOne(ask, each.id);
}

/** Turns Broadcast off again where it was turned on for us and sends to nobody else. */
async function turnBack(ask: Ask, { workspace: id, turned_on: turnedOn }: Destination): Promise<void> {
  if (id === undefined || !turnedOn) return;
  if ((await listDestinations(ask, id)).length === 0) await turnBroadcast(ask, id, false);
}

async function registerAt(
  ask: Ask,
  { id: workspaceId, is_observability_broadcast_enabled: isOn }: Workspace,
  { name, base, authorization }: Parameters<Registrar["register"]>[1],
): Promise<Destination> {
  await removeNamed(ask, workspaceId, name);
  const body = {
    name,
    type: "otel-collector",
    config: { endpoint: `${base}/v1/traces`, headers: { Authorization: authorization } },
    enabled: true,
    privacy_mode: true,
    sampling_rate: 1,
    broadcast_generation_cost: true,
    regions: ["global", "europe", "us"],
    workspace_id: workspaceId,
  };
  const { data } = await ask(path, [], z.object({ data: destination }), {}, body);
  if (!isOn) await turnBroadcast(ask, workspaceId, true);
  return { id: data.id, workspace: workspaceId, turned_on: !isOn };
}

async function remove(ask: Ask, destinations: readonly Destination[], name: string): Promise<void> {
  for (const each of destinations) {
    await removeOne(ask, each.id);
    await turnBack(ask, each);
  }
  if (destinations.length === 0)
    for (const { id } of await listWorkspaces(ask)) await removeNamed(ask, id, name);
}

async function read(ask: Ask, destinations: readonly Destination[]): Promise<Standing> {
  const disabled: string[] = [];
  const missing: string[] = [];
  for (const workspaceOf of await listWorkspaces(ask)) {
    const own = destinations.find((each) => each.workspace === workspaceOf.id);
    const found = own && (await unlessMissing(ask(pathOf(own.id), [], z.object({ data: destination }))));
    if (!found) missing.push(workspaceOf.name);
    else if (!found.data.enabled || !workspaceOf.is_observability_broadcast_enabled)
      disabled.push(workspaceOf.name);
  }
  if (disabled.length > 0)
    return { state: "disabled", problem: `Broadcast is turned off there in ${disabled.join(", ")}.` };
  if (missing.length > 0)
    return { state: "gone", problem: `OpenRouter has no destination of ours in ${missing.join(", ")}.` };
  return { state: "registered", problem: null };
}

/**
 * OpenRouter: a destination of Broadcast in each workspace of the account, for the requests of all regions, with their costs and without
 * their content. Broadcast is turned on where it is off.
 */
export const openrouter: Registrar = {
  register: async (ask, registration) => {
    const workspaces = await listWorkspaces(ask);
    if (workspaces.length === 0) throw new ProviderFailure("It lists no workspace.");
    const made: Destination[] = [];
    try {
      for (const each of workspaces) made.push(await registerAt(ask, each, registration));
      return made;
    } catch (error) {
      // What was made stays nowhere; its own failure must not hide why.
      await remove(ask, made, registration.name).catch(() => {});
      throw error;
    }
  },
  read,
  remove,
};
