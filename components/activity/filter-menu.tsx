"use client";

import { ListFilter } from "lucide-react";
import { useRouter } from "next/navigation";
import { type FormEvent, useState, useTransition } from "react";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { Button } from "@/components/ui/button";
import { DateInput } from "@/components/ui/date-input";
import { Label } from "@/components/ui/label";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";
import { Select } from "@/components/ui/select";
import { useOpened } from "@/components/ui/use-opened";
import { type ActiveFilter, type FilterOption, filterFields } from "./filters";
import { useFilterOptions } from "./use-filter-options";

type Props = {
  path: string;
  params: SearchParams;
  /** Those that hold. */
  filters: ActiveFilter[];
  /** The metrics of the days that are looked at: what was spent on in them is there to choose. */
  days: string;
};

/** Everything to filter by. A choice holds at once, and the menu stays open for the next. */
export function FilterMenu({ path, params, filters, days }: Props) {
  const router = useRouter();
  const [isPending, startTransition] = useTransition();
  const { element, wasOpened, open } = useOpened<HTMLDivElement>();
  const { options, problem } = useFilterOptions(wasOpened ? days : undefined);
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
            {filterFields.map(({ name, label }) => (
              <Choice
                key={name}
                id={`filter-${name}`}
                label={label}
                options={options[name]}
                chosen={filters.find((filter) => filter.name === name)}
                onChange={(value) => go(hrefWith(path, params, { [name]: value }))}
              />
            ))}
            {problem ? <p className="text-warning text-xs">{problem}</p> : null}
            <DayRange key={`${params.from} ${params.to}`} path={path} params={params} go={go} />
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
  // It is shown whether or not anything was spent on it in these days.
  const isListed = chosen === undefined || options.some(({ value }) => value === chosen.value);
  const listed = isListed ? options : [{ value: chosen.value, label: chosen.valueLabel }, ...options];
  return (
    <div className="grid grid-cols-[5.5rem_minmax(0,1fr)] items-center gap-2">
      <Label htmlFor={id} className="font-normal text-muted-foreground">
        {label}
      </Label>
      <Select
        id={id}
        // An empty value means "has none", so "any" needs one that no value can be.
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

function DayRange({ path, params, go }: Pick<Props, "path" | "params"> & { go: (href: string) => void }) {
  const [problem, setProblem] = useState<string>();
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const days = new FormData(event.currentTarget);
    const [from, to] = [String(days.get("from")), String(days.get("to"))];
    if (from > to) {
      setProblem("The last day is before the first.");
      return;
    }
    go(hrefWith(path, params, { period: "range", from, to }));
  };
  const text = (value: SearchParams[string]) => (typeof value === "string" ? value : undefined);
  return (
    <form onSubmit={apply} className="grid gap-2 border-t pt-3">
      <div className="grid grid-cols-2 gap-2">
        <div className="grid gap-1.5">
          <Label htmlFor="filter-from" className="font-normal text-muted-foreground">
            First day (UTC)
          </Label>
          <DateInput id="filter-from" name="from" required defaultValue={text(params.from)} />
        </div>
        <div className="grid gap-1.5">
          <Label htmlFor="filter-to" className="font-normal text-muted-foreground">
            Last day (UTC)
          </Label>
          <DateInput id="filter-to" name="to" required defaultValue={text(params.to)} />
        </div>
      </div>
      {problem ? (
        <p role="alert" className="text-destructive text-xs">
          {problem}
        </p>
      ) : null}
      <Button type="submit" variant="outline" size="sm">
        Show these days
      </Button>
    </form>
  );
}
