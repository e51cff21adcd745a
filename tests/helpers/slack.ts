import { createHmac } from "node:crypto";

/** The signing secret of a Slack app. */
export const slackSecret = "8f742231b10e8888abcd99yyyzzz85a5";

/** A click on the button that approves a request, as Slack's documentation has it. @param value of the button */
export function clickPayload(value: string, responseUrl: string, changes: object = {}) {
  return {
    type: "block_actions",
    user: { id: "U0CA5", username: "ada", name: "ada", team_id: "T9TK3CUKW" },
    api_app_id: "A0MDYCDME",
    token: "not-used",
    container: { type: "message", message_ts: "1548261231.000200", is_ephemeral: false },
    trigger_id: crypto.randomUUID(),
    team: { id: "T9TK3CUKW", domain: "example" },
    channel: { id: "CBR2V3XEX", name: "finance" },
    response_url: responseUrl,
    actions: [
      {
        type: "button",
        action_id: "approve_budget_request",
        block_id: "b1",
        value,
        action_ts: "1548426417.840180",
      },
    ],
    ...changes,
  };
}

/** The body of a payload: a form. */
export const formOf = (payload: unknown): string =>
  new URLSearchParams({ payload: JSON.stringify(payload) }).toString();

/** Signs a body as Slack does. @param at seconds since 1970 */
export function signAsSlack(body: string, secret = slackSecret, at = Math.floor(Date.now() / 1000)) {
  const digest = createHmac("sha256", secret).update(`v0:${at}:${body}`).digest("hex");
  return { "X-Slack-Signature": `v0=${digest}`, "X-Slack-Request-Timestamp": String(at) };
}

/** Posts a body to a request URL. @returns the status, and the text of the answer */
export async function postInteraction(url: string, body: string, headers: Record<string, string>) {
  const response = await fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
    body,
  });
  return { status: response.status, text: await response.text() };
}
