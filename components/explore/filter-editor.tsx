"use client";

import { ListFilter, X } from "lucide-react";
import { useEffect, useState } from "react";
import { callApi } from "@/components/requests/api";
import { Button } from "@/components/ui/button";
import { Combobox } from "@/components/ui/combobox";
import type { Option } from "@/components/ui/combobox-option";
import { Popover, PopoverContent, PopoverTrigger } from "@/components/ui/popover";
import { Select } from "@/components/ui/select";
import type { spendAnswer, spendQuery } from "@/lib/contract/spend/spend-query";
import { dimensionLabel, dimensionNames, fixedValues, valueLabel } from "./dimensions";
import type { ExploreFilter, ExploreState } from "./state";

/** The fields that can be filtered by. */
const fields = Object.keys(dimensionNames).filter(
  (name) => !["environment", "day", "week", "month"].includes(name),
);

type Props = {
  workspace: string;
  state: ExploreState;
  range: { from: string; to: string };
  tags: string[];
  onChange: (changes: { filters: ExploreFilter[] }) => void;
};

/** The filters as chips, each of which can be removed, and the button that adds one. */
export function FilterEditor({ workspace, state, range, tags, onChange }: Props) {
  const { filters } = state;
  const without = (index: number) => filters.filter((_, at) => at !== index);
  return (
    <>
      {filters.map((filter, index) => (
        <span
          key={`${filter.op} ${filter.field}`}
          className="inline-flex h-8 max-w-full items-center gap-1.5 rounded-md border bg-secondary pr-1 pl-2.5 text-[13px]"
        >
          <span className="truncate">
            {dimensionLabel(filter.field)} {filter.op === "is" ? "is" : "is not"}{" "}
            <b className="font-medium">
              {filter.values.map((value) => nameOf(filter.field, value)).join(", ")}
            </b>
          </span>
          <Button
            variant="ghost"
            size="icon"
            className="size-6"
            aria-label={`Remove the filter ${dimensionLabel(filter.field)}`}
            onClick={() => onChange({ filters: without(index) })}
          >
            <X aria-hidden="true" />
          </Button>
        </span>
      ))}
      <Popover>
        <PopoverTrigger variant="outline" size="sm">
          <ListFilter aria-hidden="true" />
          Add filter
        </PopoverTrigger>
        <PopoverContent aria-label="Add a filter" className="w-80">
          <NewFilter
            key={filters.length}
            workspace={workspace}
            environment={state.environment}
            range={range}
            tags={tags}
            onAdd={(added) => {
              const isSame = ({ field, op }: ExploreFilter) => field === added.field && op === added.op;
              onChange({ filters: [...filters.filter((filter) => !isSame(filter)), added] });
            }}
          />
        </PopoverContent>
      </Popover>
    </>
  );
}

const nameOf = (field: string, value: string) => valueLabel(field, value === "" ? null : value, null);

/** The form of a new filter. Values are chosen from the highest of the shown days, or typed. */
function NewFilter({
  workspace,
  environment,
  range,
  tags,
  onAdd,
}: Pick<Props, "workspace" | "range" | "tags"> & {
  environment: ExploreState["environment"];
  onAdd: (filter: ExploreFilter) => void;
}) {
  const [field, setField] = useState("model");
  const [op, setOp] = useState<ExploreFilter["op"]>("is");
  const [values, setValues] = useState<string[]>([]);
  const options = useValues(workspace, field, environment, range);
  const chosen = options.filter(({ label }) => values.includes(label));
  return (
    <form
      className="grid gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = values.map((label) => chosen.find((option) => option.label === label)?.value ?? label);
        if (wanted.length > 0) onAdd({ field, op, values: wanted });
      }}
    >
      <div className="grid grid-cols-2 gap-2">
        <Select
          aria-label="Field"
          value={field}
          onChange={(event) => {
            setField(event.target.value);
            setValues([]);
          }}
        >
          {[...fields, ...tags.map((tag) => `tag:${tag}`)].map((name) => (
            <option key={name} value={name}>
              {name.startsWith("tag:") ? `Tag: ${dimensionLabel(name)}` : dimensionLabel(name)}
            </option>
          ))}
        </Select>
        <Select
          aria-label="Condition"
          value={op}
          onChange={(event) => setOp(event.target.value as ExploreFilter["op"])}
        >
          <option value="is">is</option>
          <option value="is_not">is not</option>
        </Select>
      </div>
      <Combobox
        aria-label="Values"
        placeholder="Type or choose"
        options={options.map(({ label }) => ({ value: label, label }))}
        value={values}
        onChange={setValues}
        allowNew
      />
      <Button type="submit" size="sm" disabled={values.length === 0}>
        Apply
      </Button>
    </form>
  );
}

/** The highest values of a field in the shown days. */
function useValues(
  workspace: string,
  field: string,
  environment: ExploreState["environment"],
  { from, to }: Props["range"],
): Option[] {
  const [read, setRead] = useState<{ field: string; options: Option[] }>();
  useEffect(() => {
    const fixed = fixedValues(field);
    if (fixed.length > 0) {
      setRead({ field, options: fixed });
      return;
    }
    const abort = new AbortController();
    callApi<typeof spendAnswer, typeof spendQuery>(
      "POST",
      `/api/v1/workspaces/${workspace}/spend/query`,
      { group_by: [field as "model"], from, to, environment, top: 50 },
      abort.signal,
    ).then(
      ({ rows }) =>
        setRead({
          field,
          options: rows.groups
            .filter((group) => !group.is_rest)
            .map(({ value, name }) => ({ value: value ?? "", label: valueLabel(field, value, name) })),
        }),
      // Values can be typed without a list.
      () => {},
    );
    return () => abort.abort();
  }, [workspace, field, environment, from, to]);
  return read?.field === field ? read.options : [];
}
