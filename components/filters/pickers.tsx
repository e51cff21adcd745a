import { SegmentedLinks } from "@/components/ui/segmented-control";
import { hrefWith, type SearchParams } from "./href";

type Props = { path: string; params: SearchParams; className?: string };

const names = {
  day: "Day",
  week: "Week",
  month: "Month",
  quarter: "Quarter",
  year: "Year",
  all: "All",
} as const;

/** Links that choose the period of a page, which is the parameter `period` of its address; by default the current UTC month. */
export function PeriodPicker({
  path,
  params,
  periods,
  className,
}: Props & {
  /** The periods that the page offers; all by default. */
  periods?: readonly (keyof typeof names)[];
}) {
  const current = params.period ?? "month";
  const offered = Object.entries(names).filter(
    ([value]) => !periods || (periods as readonly string[]).includes(value),
  );
  return (
    <SegmentedLinks
      label="Period"
      {...(className && { className })}
      options={offered.map(([value, label]) => ({
        label,
        href: hrefWith(path, params, { period: value === "month" ? undefined : value }),
        current: value === current,
      }))}
    />
  );
}

/** Links that choose live or test data, which is the parameter `environment` of the address; by default live. */
export function EnvironmentSwitch({ path, params, className }: Props) {
  const isTest = params.environment === "test";
  return (
    <SegmentedLinks
      label="Environment"
      {...(className && { className })}
      options={[
        { label: "Live", href: hrefWith(path, params, { environment: undefined }), current: !isTest },
        { label: "Test", href: hrefWith(path, params, { environment: "test" }), current: isTest },
      ]}
    />
  );
}
