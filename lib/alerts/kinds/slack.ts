import type { OutgoingRequest } from "@/lib/alerts/delivery/post";
import { approveAction, approveValue } from "@/lib/alerts/slack/interaction";
import { amountText, type BudgetRequestDetails, dayText, limitName } from "./budget-request";
import { cut, type Wording } from "./wording";

/**
 * A message for an incoming webhook of Slack (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks)
 * or of a program that understands its format. `text` is what a notification shows.
 * @param asked a pending budget request, which gets a button that approves it (https://docs.slack.dev/reference/block-kit/block-elements/button-element)
 */
export function slackRequest(
  { title, text, facts, links }: Wording,
  url: string,
  asked?: BudgetRequestDetails,
): OutgoingRequest {
  const message = {
    text: escapeSlack(`${title}. ${text}`),
    blocks: [
      { type: "header", text: { type: "plain_text", text: cut(title, 150), emoji: false } },
      { type: "section", text: { type: "mrkdwn", text: cut(escapeSlack(text), 3000) } },
      {
        type: "section",
        fields: facts.slice(0, 10).map(([label, value]) => ({
          type: "mrkdwn",
          text: cut(`*${label}*\n${escapeSlack(value)}`, 2000),
        })),
      },
      {
        type: "actions",
        elements: [
          ...(asked ? [approveButton(asked)] : []),
          ...links.map((link) => ({
            type: "button",
            text: { type: "plain_text", text: asked ? "Open in Outlay" : link.text, emoji: false },
            url: link.url,
          })),
        ],
      },
    ],
  };
  return { url, headers: {}, body: JSON.stringify(message) };
}

/** The button asks once more before it is clicked. Its text names all that a click approves. */
function approveButton(request: BudgetRequestDetails) {
  const { id, amount, currency, until, budget } = request;
  const plain = (text: string, most: number) => ({ type: "plain_text", text: cut(text, most), emoji: false });
  const granted = `${amountText(amount, currency)} until ${dayText(until)}`;
  return {
    type: "button",
    style: "primary",
    action_id: approveAction,
    value: approveValue(id, until),
    text: plain(`Approve ${granted}`, 75),
    confirm: {
      title: plain("Approve the request?", 100),
      text: plain(
        `${budget ? `The budget ${budget.name}` : `T${limitName(request).slice(1)}`} is raised by ${granted}; the raise then ends by itself.`,
        300,
      ),
      confirm: plain("Approve", 30),
      deny: plain("Cancel", 30),
    },
  };
}

/** Escapes text for Slack, so that a name can neither mention anybody (`<!channel>`) nor format the message. */
export function escapeSlack(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/[*_~`]/g, "\u200b$&");
}
