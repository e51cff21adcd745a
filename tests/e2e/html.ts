import type { APIRequestContext } from "@playwright/test";

/** A page as the service sends it, read without a browser: what is rendered on the server needs none. */
export type SentPage = {
  status: number;
  /** Its HTML without scripts. */
  html: string;
  /** The text that a reader sees in it, and that of parts which arrive later in the same answer. */
  text: string;
};

const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

const unescapeHtml = (text: string) =>
  text.replaceAll(/&(amp|lt|gt|quot|#x27);/g, (_, name: string) => entities[name] ?? "");

/** Reads a page with the cookies of a request context, as a new document. */
export async function readPage(
  request: APIRequestContext,
  path: string,
  headers: Record<string, string> = {},
): Promise<SentPage> {
  const answer = await request.get(path, { headers: { accept: "text/html", ...headers } });
  const sent = (await answer.text()).replaceAll(/<script\b.*?<\/script>/gs, "").replaceAll("<!-- -->", "");
  const html = assemble(sent);
  const text = unescapeHtml(
    html.replaceAll(/<(?:style|title)\b.*?<\/(?:style|title)>/gs, "").replaceAll(/<[^>]*>/g, " "),
  );
  return { status: answer.status(), html, text: text.replaceAll(/[\s\u00a0\u202f]+/gu, " ") };
}

/** Puts the parts of a page that React sent after the rest where its scripts put them, so that all stands in the page's order. */
function assemble(sent: string): string {
  const [shell = "", ...rest] = sent.split(/<div hidden id="S:([0-9a-f]+)">/);
  const parts = new Map<string, string>();
  for (let at = 0; at < rest.length; at += 2)
    parts.set(rest[at] ?? "", (rest[at + 1] ?? "").replace(/<\/div>(?:<\/body>.*)?$/s, ""));
  const place = (html: string): string =>
    html.replaceAll(/<template id="P:([0-9a-f]+)"><\/template>/g, (_, id) => {
      const part = parts.get(id) ?? "";
      parts.delete(id);
      return place(part);
    });
  let html = place(shell);
  // What stays are whole boundaries, each of which may have places for others.
  for (const [id, part] of parts) if (parts.delete(id)) html += place(part);
  return html;
}

/** The attributes of each element that has one with this value, in the page's order. */
export function attributesOf(html: string, name: string, value: string): Record<string, string>[] {
  return [...html.matchAll(/<[a-z][^>]*>/g)]
    .map(([tag]) =>
      Object.fromEntries(
        [...tag.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, key = "", given = ""]) => [
          key,
          unescapeHtml(given),
        ]),
      ),
    )
    .filter((attributes) => attributes[name] === value);
}

/** The exact digits under a figure's name, in the page's order. */
export const digitsIn = (html: string, figure: string): string[] =>
  attributesOf(html, "data-figure", figure).map((attributes) => attributes["data-exact"] ?? "");
