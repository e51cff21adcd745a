import { Search } from "lucide-react";
import Form from "next/form";
import { Input } from "@/components/ui/input";
import type { SearchParams } from "./href";

type Props = {
  path: string;
  params: SearchParams;
  /** The accessible name: what is searched. */
  label: string;
};

/** The text search of a page, a form that only changes the parameter `q` of the address; it works without scripts. */
export function TextSearch({ path, params, label }: Props) {
  const { q, ...others } = params;
  return (
    <Form action={path} scroll={false} role="search" className="relative min-w-44 flex-1 sm:max-w-72">
      {Object.entries(others).map(([name, value]) =>
        typeof value === "string" ? <input key={name} type="hidden" name={name} value={value} /> : null,
      )}
      <Search
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 left-2.5 size-4 -translate-y-1/2 text-muted-foreground"
      />
      <Input
        // The key empties the field when the chip of the text is removed.
        key={String(q)}
        type="search"
        name="q"
        defaultValue={typeof q === "string" ? q : ""}
        maxLength={100}
        aria-label={label}
        placeholder="Search"
        className="pl-8 sm:h-8"
      />
    </Form>
  );
}
