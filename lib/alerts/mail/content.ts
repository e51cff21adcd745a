import type { Wording } from "@/lib/alerts/kinds/wording";
import type { MailContent } from "./send-mail";

/** Writes a mail, plain and as HTML. @param footer why the reader receives it */
export function mailContent(
  { title, text, facts, links }: Omit<Wording, "severity">,
  footer: string,
): MailContent {
  return {
    // A subject is one line.
    subject: title.replace(/\s+/g, " "),
    text: [
      title,
      text,
      facts.map(([label, value]) => `${label}: ${value}`).join("\n"),
      links.map((link) => `${link.text}: ${link.url}`).join("\n"),
      `-- \n${footer}`,
    ]
      .filter(Boolean)
      .join("\n\n"),
    html: `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title></head>
<body style="margin:0;padding:24px;font:15px/1.5 -apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif">
<div style="max-width:560px;margin:0 auto">
<h1 style="font-size:18px;line-height:1.3;margin:0 0 8px">${escapeHtml(title)}</h1>
<p style="margin:0 0 16px">${escapeHtml(text)}</p>
<table role="presentation" cellspacing="0" cellpadding="0" style="border-collapse:collapse;margin:0 0 16px">${facts
      .map(
        ([label, value]) =>
          `<tr><td style="padding:2px 16px 2px 0;opacity:.7">${escapeHtml(label)}</td><td style="padding:2px 0">${escapeHtml(value)}</td></tr>`,
      )
      .join("")}</table>
<p style="margin:0 0 24px">${links
      .map(
        (link) => `<a href="${escapeHtml(link.url)}" style="margin-right:16px">${escapeHtml(link.text)}</a>`,
      )
      .join("")}</p>
<p style="margin:0;font-size:12px;opacity:.7">${escapeHtml(footer)}</p>
</div>
</body>
</html>
`,
    link: links[0]?.url ?? null,
  };
}

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
