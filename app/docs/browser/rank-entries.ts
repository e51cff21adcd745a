import type { SearchEntry } from "../search-index";

/**
 * The entries that contain every word of a text, the best match first: entries whose name is the text, names that begin with
 * it, names that contain its words, and then other matches. Equal matches stay in the order of the pages.
 */
export function rankEntries(entries: readonly SearchEntry[], text: string): SearchEntry[] {
  const wanted = text.trim().toLowerCase();
  const words = wanted.split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return entries
    .map((entry) => ({ entry, rank: rankOf(entry, wanted, words) }))
    .filter(({ rank }) => rank < noMatch)
    .sort((a, b) => a.rank - b.rank)
    .map(({ entry }) => entry);
}

/** The rank of an entry that does not match. */
const noMatch = 5;

/** The rank of an entry; a lower rank is a better match. */
function rankOf({ name, of, words: more = "" }: SearchEntry, wanted: string, words: string[]): number {
  const title = name.toLowerCase();
  const last = title.split(".").at(-1) ?? title;
  const has = (text: string) => words.every((word) => text.includes(word));
  if (title === wanted || last === wanted) return 0;
  if (title.startsWith(wanted) || last.startsWith(wanted)) return 1;
  if (has(title)) return 2;
  if (has(`${title} ${of.toLowerCase()}`)) return 3;
  return has(`${title} ${of} ${more}`.toLowerCase()) ? 4 : noMatch;
}
