"use client";

import { ListFilter } from "lucide-react";
import { useRouter } from "next/navigation";
import { useState, useTransition } from "react";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { Button } from "@/components/ui/button";
import { DateInput } from "@/components/ui/date-input";
import { Form, textOf } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Label } from "@/components/ui/label";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";
import { Select } from "@/components/ui/select";
import { useOpened } from "@/components/ui/use-opened";
import { useApi } from "@/components/use-api";
import type { metrics } from "@/lib/contract/metrics";
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

function DayRange({ path, params, go }: Pick<Props, "path" | "params"> & { go: (href: string) => void }) {
  const [problem, setProblem] = useState<string>();
  const apply = (fields: FormData) => {
    const [from, to] = [textOf(fields, "from"), textOf(fields, "to")];
    if (from > to) return setProblem("The last day is before the first.");
    go(hrefWith(path, params, { period: "range", from, to }));
  };
  const asText = (value: SearchParams[string]) => (typeof value === "string" ? value : undefined);
  return (
    <Form onSubmit={apply} className="grid gap-2 border-t pt-3">
      <div className="grid grid-cols-2 items-start gap-2">
        <FormField label="First day (UTC)">
          {(control) => <DateInput {...control} name="from" required defaultValue={asText(params.from)} />}
        </FormField>
        <FormField label="Last day (UTC)" error={problem}>
          {(control) => <DateInput {...control} name="to" required defaultValue={asText(params.to)} />}
        </FormField>
      </div>
      <Button type="submit" variant="outline" size="sm">
        Show these days
      </Button>
    </Form>
  );
}
