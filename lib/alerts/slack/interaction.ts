import { z } from "zod";
import { uuid } from "@/lib/contract/values/fields";
import { env } from "@/lib/env";
import { ServiceError } from "@/lib/errors";
import { isAllowedHost } from "@/lib/outside/connect";

/** The `action_id` of the button that approves a request. */
export const approveAction = "approve_budget_request";

/** The value of the button: the request, and the last day of the raise. */
export const approveValue = (id: string, until: string): string => `${id} ${until}`;

/** A click on the button that approves a request. */
export type ApproveClick = {
  /** The Slack workspace and the Slack user, by Slack's ids. */
  team: string;
  user: string;
  /** What the Slack user is called, with the name of the Slack workspace where Slack sends it. */
  name: string;
  /** Where the click is answered, for half an hour. */
  responseUrl: string;
  requestId: string;
  until: string;
};

const slackId = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/);

/** The parts that are read of a payload (https://docs.slack.dev/reference/interaction-payloads/block_actions-payload). */
const blockActions = z.object({
  type: z.literal("block_actions"),
  user: z.object({
    id: slackId,
    username: z.string().optional(),
    name: z.string().optional(),
    team_id: slackId.optional(),
  }),
  // Null where an app was installed for a whole organisation.
  team: z.object({ id: slackId, domain: z.string().optional() }).nullish(),
  response_url: z.string().max(2048),
  actions: z.array(z.object({ action_id: z.string(), value: z.string().optional() })).min(1),
});

const buttonValue = /^(\S{36}) (\d{4}-\d{2}-\d{2})$/;

/**
 * Reads an interaction of Slack: a form whose field `payload` is JSON.
 * @param body the verified body
 * @returns undefined for every other interaction, which is only acknowledged: links, for example, are reported when they are opened
 * @throws ServiceError validation_failed
 */
export function readInteraction(body: Uint8Array): ApproveClick | undefined {
  const payload = parsePayload(new URLSearchParams(new TextDecoder().decode(body)).get("payload"));
  const type =
    typeof payload === "object" && payload !== null && "type" in payload ? payload.type : undefined;
  if (typeof type !== "string") throw malformed("payload must be a JSON object with a type");
  if (type !== "block_actions") return undefined;
  const read = blockActions.safeParse(payload);
  if (!read.success) throw malformed(`${read.error.issues[0]?.path.join(".")} is not as Slack documents it`);
  const { user, team, response_url: responseUrl, actions } = read.data;
  const pressed = actions.find(({ action_id: id }) => id === approveAction);
  if (!pressed) return undefined;
  const [, requestId, until] = buttonValue.exec(pressed.value ?? "") ?? [];
  const id = uuid.safeParse(requestId);
  const teamId = team?.id ?? user.team_id;
  if (!id.success || until === undefined || teamId === undefined)
    throw malformed("actions.value or team.id is not as the message has it");
  if (!isSlackHook(responseUrl))
    throw malformed("response_url must be an address of https://hooks.slack.com");
  const called = user.username ?? user.name ?? user.id;
  return {
    team: teamId,
    user: user.id,
    name: (team?.domain ? `${called} in ${team.domain}` : called).replace(/\p{Cc}/gu, " ").slice(0, 120),
    responseUrl,
    requestId: id.data,
    until,
  };
}

function parsePayload(text: string | null): unknown {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return undefined;
  }
}

const malformed = (message: string) =>
  new ServiceError("validation_failed", `The interaction is not valid: ${message}.`);

/** Whether an address may be posted to as the `response_url` of a click: Slack's, or a host that the operator allows. */
function isSlackHook(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, port, username, password } = new URL(address);
  if (username !== "" || password !== "") return false;
  if (protocol === "https:" && hostname === "hooks.slack.com" && port === "") return true;
  return isAllowedHost(hostname, env().ALERT_ALLOWED_HOSTS);
}
