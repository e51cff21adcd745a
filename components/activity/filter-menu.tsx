"use client";

import { ListFilter } from "lucide-react";
import { useRouter } from "next/navigation";
import { useTransition } from "react";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { useApi } from "@/components/requests/use-api";
import { Label } from "@/components/ui/label";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";
import { Select } from "@/components/ui/select";
import { useOpened } from "@/components/ui/use-opened";
import type { metrics } from "@/lib/contract/spend/metrics";
import { type ActiveFilter, type FilterOption, menuFields, toFilterOptions } from "./filters";

type Props = {
  path: string;
  params: SearchParams;
  /** The filters in effect. */
  filters: ActiveFilter[];
  /** Path of the metrics of the shown days; their slices are the values to choose from. */
  metricsPath: string;
};

/**
 * The menu of all filters. A choice takes effect at once, and the menu stays open. The values are loaded when it is first
 * opened; when that fails, the menu says why.
 */
export function FilterMenu({ path, params, filters, metricsPath }: Props) {
  const router = useRouter();
  const [isPending, startTransition] = useTransition();
  const { element, wasOpened, open } = useOpened<HTMLDivElement>();
  const { answer: spend, problem } = useApi<typeof metrics>(wasOpened ? metricsPath : undefined);
  const options = toFilterOptions(spend);
  const go = (href: string) => startTransition(() => router.push(href, { scroll: false }));
  return (
    <Popover>
      <PopoverTrigger variant="outline" size="sm">
        <ListFilter aria-hidden="true" />
        Filter
      </PopoverTrigger>
      <PopoverContent
        ref={element}
        onBeforeToggle={open}
        role="dialog"
        aria-label="Filters"
        aria-busy={isPending}
        className="max-h-[85dvh] w-80 gap-3 open:grid"
      >
        {wasOpened ? (
          <>
            {menuFields.map(({ name, label }) => (
              <Choice
                key={name}
                id={`filter-${name}`}
                label={label}
                options={options[name]}
                chosen={filters.find((filter) => filter.name === name)}
                onChange={(value) => go(hrefWith(path, params, { [name]: value }))}
              />
            ))}
            {problem ? <p className="text-warning text-xs">{problem.message}</p> : null}
          </>
        ) : null}
      </PopoverContent>
    </Popover>
  );
}

function Choice({
  id,
  label,
  options,
  chosen,
  onChange,
}: {
  id: string;
  label: string;
  options: FilterOption[];
  chosen: ActiveFilter | undefined;
  onChange: (value: string | undefined) => void;
}) {
  // The chosen value is listed even when nothing was spent on it in these days.
  const isListed = chosen === undefined || options.some(({ value }) => value === chosen.value);
  const listed = isListed ? options : [{ value: chosen.value, label: chosen.valueLabel }, ...options];
  return (
    <div className="grid grid-cols-[5.5rem_minmax(0,1fr)] items-center gap-2">
      <Label htmlFor={id} className="font-normal text-muted-foreground">
        {label}
      </Label>
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
    </div>
  );
}
