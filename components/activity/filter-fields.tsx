"use client";

import { type ReactNode, useState } from "react";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { useApi } from "@/components/requests/use-api";
import { Button } from "@/components/ui/button";
import { Combobox } from "@/components/ui/combobox";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Select } from "@/components/ui/select";
import type { apiKeyList } from "@/lib/contract/access/api-keys";
import type { metrics } from "@/lib/contract/spend/metrics";
import type { nameList } from "@/lib/contract/spend/names";
import type { projectList } from "@/lib/contract/spend/projects";
import { type ActiveFilter, type FilterOption, menuFields, toFilterOptions } from "./filters";

/** A field with more values than this is searched by typing instead of listing them. The metrics have at most 100 values. */
const maxListed = 99;

type Props = {
  workspace: string;
  path: string;
  params: SearchParams;
  filters: ActiveFilter[];
  metricsPath: string;
  go: (href: string) => void;
};

/** The fields of the filter menu. A choice takes effect at once, typed text with Enter or Apply. */
export function FilterFields({ workspace, path, params, filters, metricsPath, go }: Props) {
  const { answer: spend, problem } = useApi<typeof metrics>(metricsPath);
  const options = toFilterOptions(spend);
  return (
    <>
      {menuFields.map(({ name, label }) => (
        <Choice
          key={name}
          workspace={workspace}
          name={name}
          label={label}
          options={options[name]}
          chosen={filters.find((filter) => filter.name === name)}
          onChange={(value) => go(hrefWith(path, params, { [name]: value }))}
        />
      ))}
      <form
        className="grid gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          const typed = Object.fromEntries(
            [...new FormData(event.currentTarget)].map(([name, value]) => [
              name,
              String(value).trim() || undefined,
            ]),
          );
          go(hrefWith(path, params, typed));
        }}
      >
        {typedFields.map(({ name, label }) => (
          <Field key={name} id={`filter-${name}`} label={label}>
            <Input
              id={`filter-${name}`}
              name={name}
              maxLength={256}
              defaultValue={typeof params[name] === "string" ? params[name] : ""}
              placeholder="Any"
            />
          </Field>
        ))}
        <Field id="filter-min_amount" label="Amount, $">
          <span className="flex items-center gap-1.5">
            <AmountInput
              id="filter-min_amount"
              name="min_amount"
              label="Least amount in USD"
              params={params}
            />
            <span className="text-muted-foreground">to</span>
            <AmountInput
              id="filter-max_amount"
              name="max_amount"
              label="Highest amount in USD"
              params={params}
            />
          </span>
        </Field>
        <Button type="submit" variant="outline" size="sm" className="justify-self-end">
          Apply
        </Button>
      </form>
      {problem ? <p className="text-warning text-xs">{problem.message}</p> : null}
    </>
  );
}

const typedFields = [
  { name: "session", label: "Session" },
  { name: "emitter", label: "Emitter" },
] as const;

function AmountInput({
  name,
  label,
  params,
  id,
}: {
  name: "min_amount" | "max_amount";
  label: string;
  params: SearchParams;
  id: string;
}) {
  return (
    <Input
      id={id}
      name={name}
      aria-label={label}
      inputMode="decimal"
      pattern="-?\d{1,15}(\.\d{1,18})?"
      title="An amount in USD, such as 12.50"
      defaultValue={typeof params[name] === "string" ? params[name] : ""}
      placeholder={name === "min_amount" ? "From" : "To"}
    />
  );
}

function Field({ id, label, children }: { id: string; label: string; children: ReactNode }) {
  return (
    <div className="grid grid-cols-[5.5rem_minmax(0,1fr)] items-center gap-2">
      <Label htmlFor={id} className="font-normal text-muted-foreground">
        {label}
      </Label>
      {children}
    </div>
  );
}

type ChoiceProps = {
  workspace: string;
  name: (typeof menuFields)[number]["name"];
  label: string;
  options: FilterOption[];
  chosen: ActiveFilter | undefined;
  onChange: (value: string | undefined) => void;
};

function Choice({ workspace, name, label, options, chosen, onChange }: ChoiceProps) {
  // The chosen value is listed even when nothing was spent on it in these days.
  const isListed = chosen === undefined || options.some(({ value }) => value === chosen.value);
  const listed = isListed ? options : [{ value: chosen.value, label: chosen.valueLabel }, ...options];
  const id = `filter-${name}`;
  if (options.length >= maxListed) {
    return (
      <Field id={id} label={label}>
        <SearchedChoice {...{ workspace, name, label, chosen }} options={listed} onChange={onChange} />
      </Field>
    );
  }
  return (
    <Field id={id} label={label}>
      <Select
        id={id}
        // The empty value means "any". A filter value can be empty too ("none"), so values are prefixed with "=".
        value={chosen ? `=${chosen.value}` : ""}
        onChange={({ currentTarget: { value } }) => onChange(value === "" ? undefined : value.slice(1))}
      >
        <option value="">Any</option>
        {listed.map((option) => (
          <option key={option.value} value={`=${option.value}`}>
            {option.label}
          </option>
        ))}
      </Select>
    </Field>
  );
}

/** The list in the API that has the names of a field. */
const namesOf = {
  feature: "features",
  user: "people",
  model: "models",
  provider: "providers",
  tag: "tags",
} as const;
const isSearched = (name: string): name is keyof typeof namesOf => name in namesOf;

/** A choice among many values: suggests those of the metrics, and others that contain the typed text. */
function SearchedChoice({ workspace, name, label, options, chosen, onChange }: ChoiceProps) {
  const [text, setText] = useState("");
  const api = `/api/v1/workspaces/${workspace}`;
  const isNamed = isSearched(name);
  const isLong = text.trim().length >= 2;
  const { answer: names } = useApi<typeof nameList>(
    isNamed && isLong ? `${api}/names?q=${encodeURIComponent(text.trim())}` : undefined,
  );
  const { answer: projects } = useApi<typeof projectList>(name === "project" ? `${api}/projects` : undefined);
  const { answer: keys } = useApi<typeof apiKeyList>(name === "key" ? `${api}/api-keys` : undefined);
  const found: FilterOption[] = [
    ...(isNamed ? (names?.[namesOf[name]] ?? []) : []).map((value) => ({ value, label: value })),
    ...(projects?.projects ?? []).map((project) => ({ value: project.slug, label: project.name })),
    ...(keys?.api_keys ?? []).map((key) => ({ value: key.id, label: key.name })),
  ];
  const known = new Set(options.map(({ value }) => value));
  return (
    <Combobox
      id={`filter-${name}`}
      aria-label={label}
      placeholder="Type to search"
      limit={1}
      // Projects and keys are filtered by slug or id, so a typed name cannot be used.
      allowNew={name !== "project" && name !== "key"}
      options={[...options, ...found.filter(({ value }) => !known.has(value))]}
      value={chosen ? [chosen.value] : []}
      onChange={([value]) => onChange(value)}
      onType={setText}
    />
  );
}
