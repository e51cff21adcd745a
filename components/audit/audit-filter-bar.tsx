import { FilterChip } from "@/components/filters/filter-chip";
import { hrefWith, type SearchParams } from "@/components/filters/href";
import type { PageRange } from "@/components/filters/range";
import { RangePicker } from "@/components/filters/range-picker";
import { TextSearch } from "@/components/filters/text-search";
import { buttonVariants } from "@/components/ui/button";
import { Link } from "@/components/ui/link";
import { SegmentedLinks } from "@/components/ui/segmented-control";
import { ActorFilter } from "./actor-filter";
import { KindFilter } from "./kind-filter";

/** Filters that have no menu, and are shown as chips. */
const chips = [
  { name: "key", label: "Key" },
  { name: "action", label: "Action" },
  { name: "subject", label: "Id" },
  { name: "q", label: "Text" },
] as const;

/** Days, author, kind, text and order of the audit log, and filters in effect as chips. All of it is kept in the address. */
export function AuditFilterBar({
  workspace,
  path,
  params,
  range,
  actorName,
  keyName,
}: {
  workspace: string;
  path: string;
  params: SearchParams;
  range: PageRange;
  /** The name of the member whose changes are shown; undefined for all. */
  actorName: string | undefined;
  /** The name of the key whose changes are shown, or its id; undefined for all. */
  keyName: string | undefined;
}) {
  const { order, ...filters } = params;
  const inEffect = chips.flatMap(({ name, label }) => {
    const value = params[name];
    return typeof value === "string" ? [{ name, label, value: (name === "key" && keyName) || value }] : [];
  });
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <RangePicker path={path} params={params} range={range} hasComparison={false} isRemembered={false} />
        <ActorFilter workspace={workspace} path={path} params={params} name={actorName} />
        <KindFilter path={path} params={params} />
        <SegmentedLinks
          label="Order"
          options={[
            {
              label: "Newest first",
              href: hrefWith(path, params, { order: undefined }),
              current: order !== "oldest",
            },
            {
              label: "Oldest first",
              href: hrefWith(path, params, { order: "oldest" }),
              current: order === "oldest",
            },
          ]}
        />
        <TextSearch path={path} params={params} label="Search names and ids of what was changed" />
      </div>
      {Object.keys(filters).length > 0 ? (
        <div className="flex flex-wrap items-center gap-2">
          {inEffect.map(({ name, label, value }) => (
            <FilterChip
              key={name}
              label={label}
              value={value}
              href={hrefWith(path, params, { [name]: undefined })}
            />
          ))}
          <Link
            href={hrefWith(path, {}, { order: typeof order === "string" ? order : undefined })}
            scroll={false}
            className={buttonVariants({ variant: "ghost", size: "sm", className: "text-muted-foreground" })}
          >
            Clear filters
          </Link>
        </div>
      ) : null}
    </div>
  );
}
