import type { OutgoingRequest } from "@/lib/alerts/delivery/post";
import { cut, type Severity, type Wording } from "./wording";

const colours: Record<Severity, number> = {
  critical: 0xdc2626,
  warning: 0xd97706,
  info: 0x2563eb,
  test: 0x6b7280,
};

/**
 * A message for a webhook of Discord (https://discord.com/developers/docs/resources/webhook#execute-webhook). Mentions are turned
 * off, so that a name in it notifies nobody.
 */
export function discordRequest(
  { title, text, facts, links, severity }: Wording,
  url: string,
): OutgoingRequest {
  const message = {
    username: "Outlay",
    allowed_mentions: { parse: [] },
    embeds: [
      {
        title: cut(escapeMarkdown(title), 256),
        url: links[0]?.url,
        description: cut(
          [escapeMarkdown(text), ...links.map((link) => `[${link.text}](${link.url})`)].join("\n"),
          4096,
        ),
        color: colours[severity],
        fields: facts
          .slice(0, 25)
          .map(([name, value]) => ({ name, value: cut(escapeMarkdown(value), 1024), inline: true })),
      },
    ],
  };
  return { url, headers: {}, body: JSON.stringify(message) };
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\*_~`|>#[\]()<@]/g, "\\$&");
}
