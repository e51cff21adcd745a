import type { OutgoingRequest } from "@/lib/alerts/delivery/post";
import { cut, type Severity, type Wording } from "./wording";

const colours: Record<Severity, string> = {
  critical: "Attention",
  warning: "Warning",
  info: "Accent",
  test: "Default",
};

/**
 * A message for a workflow of Microsoft Teams that posts what its webhook receives: an Adaptive Card as an attachment
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/add-incoming-webhook).
 */
export function teamsRequest({ title, text, facts, links, severity }: Wording, url: string): OutgoingRequest {
  const card = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [
      {
        type: "TextBlock",
        size: "Medium",
        weight: "Bolder",
        color: colours[severity],
        wrap: true,
        text: cut(escapeMarkdown(title), 500),
      },
      { type: "TextBlock", wrap: true, text: cut(escapeMarkdown(text), 2000) },
      {
        type: "FactSet",
        facts: facts.map(([name, value]) => ({ title: name, value: cut(escapeMarkdown(value), 500) })),
      },
    ],
    actions: links.map((link) => ({ type: "Action.OpenUrl", title: link.text, url: link.url })),
  };
  const message = {
    type: "message",
    attachments: [
      { contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content: card },
    ],
  };
  return { url, headers: {}, body: JSON.stringify(message) };
}

/** Escapes the part of Markdown that cards understand, so that a name can make neither a link nor a mention (`<at>`). */
function escapeMarkdown(text: string): string {
  return text
    .replace(/[\\*_[\]()]/g, "\\$&")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}
