import type { AlertLink } from "@/lib/alerts/links";
import type { AlertWords } from "@/lib/alerts/words/values";
import type { MailContent } from "./send-mail";

/** A list under a heading: each entry has a name, an optional link, and a text. */
export type MailSection = {
  heading: string;
  entries: { name: string; url?: string; value: string; note?: string }[];
};

/** Why the reader receives a mail, and a link to unsubscribe. */
export type MailFooter = { text: string; link?: { text: string; url: string } };

type MailText = AlertWords & { links: AlertLink[] } & { sections?: MailSection[] };

/** Writes a mail, plain and as HTML. */
export function mailContent(
  { title, text, facts, links, sections = [] }: MailText,
  footer: MailFooter,
): MailContent {
  return {
    // A subject must be one line.
    subject: title.replace(/\s+/g, " "),
    text: [
      title,
      text,
      facts.map(([label, value]) => `${label}: ${value}`).join("\n"),
      ...sections.map(toPlain),
      links.map((link) => `${link.text}: ${link.url}`).join("\n"),
      `-- \n${[footer.text, ...(footer.link ? [`${footer.link.text}: ${footer.link.url}`] : [])].join("\n")}`,
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
${sections.map(toHtml).join("\n")}
<p style="margin:0 0 24px">${links
      .map(
        (link) => `<a href="${escapeHtml(link.url)}" style="margin-right:16px">${escapeHtml(link.text)}</a>`,
      )
      .join("")}</p>
<p style="margin:0;font-size:12px;opacity:.7">${escapeHtml(footer.text)}${
      footer.link ? ` <a href="${escapeHtml(footer.link.url)}">${escapeHtml(footer.link.text)}</a>` : ""
    }</p>
</div>
</body>
</html>
`,
    link: links[0]?.url ?? null,
  };
}

function toPlain({ heading, entries }: MailSection): string {
  const lines = entries.map(({ name, url, value, note }) =>
    [`- ${name}: ${value}`, ...(note ? [`  ${note}`] : []), ...(url ? [`  ${url}`] : [])].join("\n"),
  );
  return [heading, ...lines].join("\n");
}

const cell = "padding:6px 0;border-top:1px solid rgba(128,128,128,.25);vertical-align:top";

function toHtml({ heading, entries }: MailSection): string {
  const rows = entries.map(({ name, url, value, note }) => {
    const shown = url ? `<a href="${escapeHtml(url)}">${escapeHtml(name)}</a>` : escapeHtml(name);
    const remark = note ? `<br><span style="font-size:13px;opacity:.7">${escapeHtml(note)}</span>` : "";
    return `<tr><td style="${cell};padding-right:16px;overflow-wrap:anywhere">${shown}${remark}</td><td style="${cell};text-align:right;white-space:nowrap">${escapeHtml(value)}</td></tr>`;
  });
  return `<h2 style="font-size:15px;margin:0 0 4px">${escapeHtml(heading)}</h2>
<table cellspacing="0" cellpadding="0" style="border-collapse:collapse;width:100%;margin:0 0 20px">${rows.join("")}</table>`;
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
