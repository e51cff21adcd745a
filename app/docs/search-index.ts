import type { DocsField } from "@/components/docs/fields";
import { toolContracts, toolNames } from "@/lib/contract/tools";
import type { DocsSite } from "./pages";

/** A search result: its name, what it belongs to (`of`), its address, and other words that find it. */
export type SearchEntry = { name: string; of: string; href: string; words?: string };

/** All entries of the search: pages, sections, endpoints, fields, errors and tools. */
export function listEntries({ groups, reference, errors }: DocsSite): SearchEntry[] {
  const guide = groups[0]?.pages ?? [];
  return [
    ...guide.flatMap(({ path, title, sections }) => [
      { name: title, of: "Guide", href: path },
      ...sections.map(({ id, label }) => ({ name: label, of: title, href: `${path}#${id}` })),
    ]),
    ...reference.groups.flatMap(({ name, path, endpoints }) => [
      { name, of: "Resource", href: path },
      ...endpoints.flatMap((endpoint) => {
        const href = `${path}#${endpoint.id}`;
        const call = `${endpoint.method} ${endpoint.path}`;
        const fields = [
          ...endpoint.parameters.flatMap((group) => group.fields),
          ...(endpoint.body?.fields ?? []),
          ...endpoint.response.fields,
        ];
        return [
          { name: endpoint.summary, of: call, href, words: endpoint.description },
          ...listFields(fields).map(({ field, words }) => ({ name: field, of: call, href, words })),
        ];
      }),
    ]),
    ...errors.map(({ code, status, when }) => ({
      name: code,
      of: `Error, status ${status}`,
      href: `/docs/errors#${code}`,
      words: when,
    })),
    ...toolNames.map((name) => ({
      name,
      of: "Agent tool",
      href: "/docs/agents#agent-tools",
      words: toolContracts[name].description,
    })),
  ].map(({ words, ...entry }: SearchEntry) => (words ? { ...entry, words } : entry));
}

/** All fields with their nested fields, by dotted name, each once. */
function listFields(fields: DocsField[], before = ""): { field: string; words?: string | undefined }[] {
  const named = fields.flatMap(({ name, description, fields: inner, variants }) => [
    { field: before + name, words: description },
    ...listFields(inner, `${before}${name}.`),
    ...variants.flatMap((variant) => listFields(variant.fields, `${before}${name}.`)),
  ]);
  return [...new Map(named.map((entry) => [entry.field, entry])).values()];
}
