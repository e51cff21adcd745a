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

/** How far back a page looks, in the parameter `period`; the current UTC month where the address says nothing. */
export function PeriodPicker({
  path,
  params,
  periods,
  className,
}: Props & {
  /** Those a page offers; all, unless said. */
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

/** Whether a page shows live or test data, in the parameter `environment`; live where the address says nothing. */
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
