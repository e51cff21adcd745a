import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "@/tests/helpers/project-root";

/** A fenced block of code: its language and its text. */
export type Block = { language: string; text: string };

/**
 * The blocks of code of a section of docs/deploy.md, in order. A section ends at the next heading of its level or a higher one.
 * @throws Error where the page has no such heading
 */
export function blocksOf(heading: string): Block[] {
  const lines = readFileSync(join(projectRoot, "docs/deploy.md"), "utf8").split("\n");
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, "") === heading);
  if (start < 0) throw new Error(`docs/deploy.md has no heading "${heading}"`);
  const level = lines[start]?.indexOf(" ") ?? 0;
  const length = lines
    .slice(start + 1)
    .findIndex((line) => /^#+ /.test(line) && line.indexOf(" ") <= level && !line.startsWith("#!"));
  const section = lines.slice(start + 1, length < 0 ? undefined : start + 1 + length).join("\n");
  return [...section.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)].map(
    ([, , language = "", text = ""]) => ({
      language,
      text,
    }),
  );
}

/**
 * A block of a section that contains some text.
 * @param replacements what stands in the page for values of the reader's own, and the values. @throws Error where one does not occur
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
