import { byEnglish } from "@/components/reader/by-reader";

const lists = byEnglish((tag) => new Intl.ListFormat(tag));

/** Names in a sentence: "Chat, Search, and Support"; "Chat, Search and Support" in British English. */
export function formatList(names: string[]): string {
  return lists().format(names);
}

/** The same list of `count` elements for which there is no text yet: positions, and the words between them. */
export function listParts(count: number): (number | string)[] {
  const positions = Array.from({ length: count }, (_, position) => String(position));
  return lists()
    .formatToParts(positions)
    .map(({ type, value }) => (type === "element" ? Number(value) : value));
}
