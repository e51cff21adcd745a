import { Search, X } from "lucide-react";
import Form from "next/form";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { EnvironmentSwitch } from "@/components/filters/pickers";
import { keepRange, type PageRange } from "@/components/filters/range";
import { RangePicker } from "@/components/filters/range-picker";
import { Link } from "@/components/link";
import { buttonVariants } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { FilterMenu } from "./filter-menu";
import type { ActiveFilter } from "./filters";

/** The period, the environment, the text search, and the filters in effect as chips. All of it is kept in the address. */
export function FilterBar({
  path,
  params,
  range,
  filters,
  metricsPath,
}: {
  path: string;
  params: SearchParams;
  range: PageRange;
  filters: ActiveFilter[];
  /** Path of the metrics of the shown days. */
  metricsPath: string;
}) {
  const isFiltered = filters.length > 0 || params.q !== undefined;
  return (
    <div className="grid gap-3 pb-5">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <RangePicker path={path} params={params} range={range} />
        <EnvironmentSwitch path={path} params={params} />
        <TextSearch path={path} params={params} />
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <FilterMenu path={path} params={params} filters={filters} metricsPath={metricsPath} />
        {filters.map(({ name, label, valueLabel }) => (
          <Chip
            key={name}
            label={label}
            value={valueLabel}
            href={hrefWith(path, params, { [name]: undefined })}
          />
        ))}
        {typeof params.q === "string" ? (
          <Chip label="Text" value={params.q} href={hrefWith(path, params, { q: undefined })} />
        ) : null}
        {isFiltered ? (
          <Link
            href={hrefWith(path, keepRange(params), {})}
            scroll={false}
            className={buttonVariants({ variant: "ghost", size: "sm", className: "text-muted-foreground" })}
          >
            Clear filters
          </Link>
        ) : null}
      </div>
    </div>
  );
}

function Chip({ label, value, href }: { label: string; value: string; href: string }) {
  return (
    <span className="inline-flex h-8 max-w-full items-center rounded-md border bg-secondary text-[13px]">
      <span className="truncate pl-2.5">
        <span className="text-muted-foreground">{label}</span> {value}
      </span>
      <Link
        href={href}
        scroll={false}
        aria-label={`Remove the filter ${label}: ${value}`}
        className="flex h-full w-8 shrink-0 items-center justify-center rounded-md text-muted-foreground hover:text-foreground"
      >
        <X aria-hidden="true" className="size-3.5" />
      </Link>
    </span>
  );
}

/** The text search, a form that only changes the address; it works without scripts. */
function TextSearch({ path, params }: { path: string; params: SearchParams }) {
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
        aria-label="Search label, feature, model, provider or notes"
        placeholder="Search"
        className="pl-8 sm:h-8"
      />
    </Form>
  );
}
