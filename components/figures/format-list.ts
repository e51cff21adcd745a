import { byEnglish } from "@/components/reader/by-reader";

const lists = byEnglish((tag) => new Intl.ListFormat(tag));

/** Names in a sentence: "Chat, Search, and Support"; "Chat, Search and Support" in British English. */
export function formatList(names: string[]): string {
  return lists().format(names);
}

/** Like `formatList`, for elements that are not text: the positions of `count` elements, and the words between them. */
export function listParts(count: number): (number | string)[] {
  const positions = Array.from({ length: count }, (_, position) => String(position));
  return lists()
    .formatToParts(positions)
    .map(({ type, value }) => (type === "element" ? Number(value) : value));
}
