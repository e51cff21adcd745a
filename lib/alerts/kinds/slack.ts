import type { OutgoingRequest } from "@/lib/alerts/delivery/post";
import { cut, type Wording } from "./wording";

/**
 * A message for an incoming webhook of Slack (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks)
 * or of a program that understands its format. `text` is what a notification shows.
 */
export function slackRequest({ title, text, facts, links }: Wording, url: string): OutgoingRequest {
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
        elements: links.map((link) => ({
          type: "button",
          text: { type: "plain_text", text: link.text, emoji: false },
          url: link.url,
        })),
      },
    ],
  };
  return { url, headers: {}, body: JSON.stringify(message) };
}

/** Escapes text for Slack, so that a name can neither mention anybody (`<!channel>`) nor format the message. */
function escapeSlack(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/[*_~`]/g, "\u200b$&");
}
