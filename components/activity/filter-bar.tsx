import { FilterChip } from "@/components/filters/filter-chip";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import { EnvironmentSwitch } from "@/components/filters/pickers";
import { keepRange, type PageRange } from "@/components/filters/range";
import { RangePicker } from "@/components/filters/range-picker";
import { TextSearch } from "@/components/filters/text-search";
import { buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import { SegmentedLinks } from "@/components/ui/segmented-control";
import { FilterMenu } from "./filter-menu";
import type { ActiveFilter } from "./filters";

/** The period, the environment, the text search, and the filters in effect as chips. All of it is kept in the address. */
export function FilterBar({
  workspace,
  path,
  params,
  range,
  filters,
  metricsPath,
}: {
  workspace: string;
  path: string;
  params: SearchParams;
  range: PageRange;
  filters: ActiveFilter[];
  /** Path of the metrics of the shown days. */
  metricsPath: string;
}) {
  const isGrouped = params.group === "session";
  const isFiltered = filters.length > 0 || params.q !== undefined;
  return (
    <div className="flex flex-wrap items-center gap-2 pb-5">
      <RangePicker path={path} params={params} range={range} hasComparison={false} />
      <EnvironmentSwitch path={path} params={params} />
      <SegmentedLinks
        label="Group by"
        options={[
          { label: "Rows", href: hrefWith(path, params, { group: undefined }), current: !isGrouped },
          {
            label: "Sessions",
            href: hrefWith(path, params, { group: "session", sort: undefined }),
            current: isGrouped,
          },
        ]}
      />
      <TextSearch path={path} params={params} label="Search label, feature, model, provider or notes" />
      <FilterMenu
        workspace={workspace}
        path={path}
        params={params}
        filters={filters}
        metricsPath={metricsPath}
      />
      {filters.map(({ name, label, valueLabel }) => (
        <FilterChip
          key={name}
          label={label}
          value={valueLabel}
          href={hrefWith(path, params, { [name]: undefined })}
        />
      ))}
      {typeof params.q === "string" ? (
        <FilterChip label="Text" value={params.q} href={hrefWith(path, params, { q: undefined })} />
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
  );
}
