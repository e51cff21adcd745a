import type { SearchEntry } from "../search-index";

/**
 * The entries that have every word of a text, the best first: those whose name is the text, then begins with it, then has
 * it, then those that have the words elsewhere. What is equal stays in the order of the pages.
 */
export function rankEntries(entries: readonly SearchEntry[], text: string): SearchEntry[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, rank: rankOf(entry, wanted, words) }))
    .filter(({ rank }) => rank < never)
    .sort((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
}

const never = 5;

function rankOf({ name, of, words: more = "" }: SearchEntry, wanted: string, words: string[]): number {
  const title = name.toLowerCase();
  const last = title.split(".").at(-1) ?? title;
  const has = (place: string) => words.every((word) => place.includes(word));
  if (title === wanted || last === wanted) return 0;
  if (title.startsWith(wanted) || last.startsWith(wanted)) return 1;
  if (has(title)) return 2;
  if (has(`${title} ${of.toLowerCase()}`)) return 3;
  return has(`${title} ${of} ${more}`.toLowerCase()) ? 4 : never;
}
