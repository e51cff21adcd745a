import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "@/tests/helpers/project-root";

/** A fenced block of code: its language and its text. */
export type Block = { language: string; text: string };

/**
 * The blocks of code of a section of docs/deploy.md, in order. A section ends at the next heading of its level or a higher one.
 * @throws Error if the page has no such heading
 */
export function blocksOf(heading: string): Block[] {
  const blocks: Block[] = [];
  let level: number | undefined;
  let open: Block | undefined;
  for (const line of readFileSync(join(projectRoot, "docs/deploy.md"), "utf8").split("\n")) {
    const fence = /^ *```(\w*)$/.exec(line);
    const [, marks = "", title] = /^(#+) (.*)$/.exec(line) ?? [];
    if (fence) {
      if (open) blocks.push(open);
      open = open || level === undefined ? undefined : { language: fence[1] ?? "", text: "" };
    } else if (open) open.text += `${line}\n`;
    else if (title === heading) level = marks.length;
    else if (level !== undefined && marks !== "" && marks.length <= level) return blocks;
  }
  if (level === undefined) throw new Error(`docs/deploy.md has no heading "${heading}"`);
  return blocks;
}

/**
 * The first block of a section that contains a text.
 * @param replacements placeholders of the page and their values. @throws Error if there is no such block or placeholder
 */
export function blockWith(heading: string, part: string, replacements: [string, string][] = []): string {
  const block = blocksOf(heading).find(({ text }) => text.includes(part));
  if (!block) throw new Error(`"${heading}" of docs/deploy.md has no block with ${JSON.stringify(part)}`);
  return replacements.reduce((text, [from, to]) => {
    if (!text.includes(from))
      throw new Error(`the block with ${JSON.stringify(part)} lacks ${JSON.stringify(from)}`);
    return text.replaceAll(from, to);
  }, block.text);
}

/** The settings of a block of `NAME=value   # comment` lines. */
export function settingsIn(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/^([A-Z_]+)=(\S*)/gm)].map(([, name = "", value = ""]) => [name, value]),
  );
}
