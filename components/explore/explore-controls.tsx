"use client";

import { useRouter } from "next/navigation";
import { type ReactNode, useOptimistic, useTransition } from "react";
import { cn } from "@/components/ui/cn";
import { SegmentedControl } from "@/components/ui/segmented-control";
import { Select } from "@/components/ui/select";
import { calendarNames, dimensionLabel, dimensionNames, measures } from "./dimensions";
import { FilterEditor } from "./filter-editor";
import { drawingsOf, type ExploreState, exploreHref } from "./state";

const drawingNames = { stacked: "Stacked", lines: "Lines", share: "Share" };

/** The choices for the number of listed values. */
const tops = [3, 5, 8, 10, 20, 50];

/** The controls of Explore: grouping, measure, days, filters and view. Each change opens a new address. */
export function ExploreControls({
  workspace,
  state: given,
  range,
  tags,
  children,
}: {
  workspace: string;
  state: ExploreState;
  /** The shown days, used if the address names none. */
  range: { from: string; to: string };
  /** The names of the workspace's tags. */
  tags: string[];
  /** Further controls at the end. */
  children?: ReactNode;
}) {
  const router = useRouter();
  const [isPending, startTransition] = useTransition();
  // Optimistic, so that the controls show a choice before its figures have arrived.
  const [state, choose] = useOptimistic(given);
  const change = (changes: Partial<ExploreState>) =>
    startTransition(() => {
      const next = { ...state, hidden: [], ...changes };
      choose(next);
      router.replace(exploreHref(workspace, next), { scroll: false });
    });
  const drawings = drawingsOf(state);
  const dimensions = [...Object.keys(dimensionNames), ...tags.map((tag) => `tag:${tag}`)];
  const isCalendar = (dimension: string | null) => dimension !== null && calendarNames.includes(dimension);
  return (
    <div aria-busy={isPending} className={cn("grid gap-3 pb-6", isPending && "opacity-70")}>
      <div className="grid grid-cols-2 gap-3 sm:grid-cols-4">
        <Field label="Measure">
          <Select
            aria-label="Measure"
            value={state.measure}
            onChange={(event) => change({ measure: event.target.value as ExploreState["measure"] })}
          >
            {Object.entries(measures).map(([value, { label }]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        </Field>
        <Field label="Group by">
          <Select
            aria-label="Group by"
            value={state.by}
            onChange={({ target: { value: by } }) =>
              change({
                by,
                ...((by === state.over || (isCalendar(by) && isCalendar(state.over))) && { over: null }),
              })
            }
          >
            <Dimensions names={dimensions} />
          </Select>
        </Field>
        <Field label="Then by">
          <Select
            aria-label="Then by"
            value={state.over ?? ""}
            onChange={(event) => change({ over: event.target.value || null })}
          >
            <option value="">Nothing else</option>
            <Dimensions
              names={dimensions.filter(
                (name) => name !== state.by && !(isCalendar(name) && isCalendar(state.by)),
              )}
            />
          </Select>
        </Field>
        <Field label="Show">
          <Select
            aria-label="How many values to show"
            value={state.top}
            onChange={(event) => change({ top: Number(event.target.value) })}
          >
            {[...new Set([...tops, state.top])]
              .sort((a, b) => a - b)
              .map((top) => (
                <option key={top} value={top}>
                  {`The top ${top}`}
                </option>
              ))}
          </Select>
        </Field>
      </div>
      <div className="flex flex-wrap items-center gap-3">
        <SegmentedControl
          legend="Show as"
          name="show"
          value={state.show}
          onChange={(show) => change({ show: show as ExploreState["show"], hidden: state.hidden })}
          options={[
            { value: "chart", label: "Chart" },
            { value: "table", label: "Table" },
            { value: "pivot", label: "Pivot" },
          ]}
        />
        {state.show === "chart" && drawings.length > 1 ? (
          <SegmentedControl
            legend="Draw as"
            name="chart"
            value={drawings.includes(state.chart) ? state.chart : (drawings[0] ?? "stacked")}
            onChange={(chart) => change({ chart: chart as ExploreState["chart"], hidden: state.hidden })}
            options={drawings.map((value) => ({
              value,
              label: state.over === null && value === "stacked" ? "Bars" : drawingNames[value],
            }))}
          />
        ) : null}
        <SegmentedControl
          legend="Environment"
          name="environment"
          value={state.environment}
          onChange={(environment) => change({ environment: environment as ExploreState["environment"] })}
          options={[
            { value: "live", label: "Live" },
            { value: "test", label: "Test" },
          ]}
        />
        <FilterEditor workspace={workspace} state={state} range={range} tags={tags} onChange={change} />
        {children}
      </div>
    </div>
  );
}

function Dimensions({ names }: { names: string[] }) {
  return names.map((name) => (
    <option key={name} value={name}>
      {name.startsWith("tag:") ? `Tag: ${dimensionLabel(name)}` : dimensionLabel(name)}
    </option>
  ));
}

function Field({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className="grid min-w-0 gap-1">
      <span aria-hidden="true" className="text-muted-foreground text-xs">
        {label}
      </span>
      {children}
    </div>
  );
}
