import { byEnglish } from "@/components/reader/by-reader";

const lists = byEnglish((tag) => new Intl.ListFormat(tag));

/** Names in a sentence: "Chat, Search, and Support"; "Chat, Search and Support" in British English. */
export function formatList(names: string[]): string {
  return lists().format(names);
}
