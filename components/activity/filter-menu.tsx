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
import { type FilterOptions, filterFields } from "./filters";

type Props = { path: string; params: SearchParams; options: FilterOptions };

/** Everything to filter by. A choice holds at once, and the menu stays open for the next. */
export function FilterMenu({ path, params, options }: Props) {
  const router = useRouter();
  const [isPending, startTransition] = useTransition();
  const { element, wasOpened, open } = useOpened<HTMLDivElement>();
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
            <Choices path={path} params={params} options={options} go={go} />
            <DayRange key={`${params.from} ${params.to}`} path={path} params={params} go={go} />
          </>
        ) : null}
      </PopoverContent>
    </Popover>
  );
}

type Go = { go: (href: string) => void };

function Choices({ path, params, options, go }: Props & Go) {
  return filterFields.map(({ name, label }) => (
    <div key={name} className="grid grid-cols-[5.5rem_minmax(0,1fr)] items-center gap-2">
      <Label htmlFor={`filter-${name}`} className="font-normal text-muted-foreground">
        {label}
      </Label>
      <Select
        id={`filter-${name}`}
        // An empty value means "has none", so "any" needs one that no value can be.
        value={typeof params[name] === "string" ? `=${params[name]}` : ""}
        onChange={({ currentTarget: { value } }) =>
          go(hrefWith(path, params, { [name]: value === "" ? undefined : value.slice(1) }))
        }
      >
        <option value="">Any</option>
        {options[name].map((option) => (
          <option key={option.value} value={`=${option.value}`}>
            {option.label}
          </option>
        ))}
      </Select>
    </div>
  ));
}

function DayRange({ path, params, go }: Pick<Props, "path" | "params"> & Go) {
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
