"use client";

import { useState } from "react";
import type { z } from "zod";
import { parseAmount } from "@/components/figures/parse-amount";
import { ApiError, callApi } from "@/components/requests/api";
import { useApi } from "@/components/requests/use-api";
import { useMutation } from "@/components/requests/use-mutation";
import type { Weekday } from "@/components/schedule/time-choices";
import { toProjectOption, useProjectList } from "@/components/shell/use-project-list";
import { Combobox } from "@/components/ui/combobox";
import type { Option } from "@/components/ui/combobox-option";
import { textOf } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import type { apiKeyList } from "@/lib/contract/access/api-keys";
import type { budget, budget as budgetSchema, createBudgetRequest } from "@/lib/contract/spend/budgets";
import type { metrics } from "@/lib/contract/spend/metrics";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { BudgetDays } from "./budget-days";
import { BudgetDialog, type BudgetFields, checkBudget } from "./budget-dialog";
import { BudgetPreviewText } from "./budget-preview";
import { type Receivers, ReceiversField, toWarns, warnsError } from "./budget-receivers";
import { amountLabels } from "./budget-view";
import { toAlertAt } from "./parse-thresholds";

const scopes: { value: ScopeType; label: string; valueLabel?: string; description?: string }[] = [
  { value: "global", label: "All spend" },
  { value: "project", label: "A project", valueLabel: "Which project?" },
  {
    value: "feature",
    label: "A feature",
    valueLabel: "Which feature?",
    description: "The name in your messages. It may not have any costs yet.",
  },
  {
    value: "provider",
    label: "A provider",
    valueLabel: "Which provider?",
    description: "The name in your messages. Upper and lower case are treated the same.",
  },
  {
    value: "model",
    label: "A model",
    valueLabel: "Which model?",
    description: "The name that activity shows.",
  },
  { value: "key", label: "An API key", valueLabel: "Which key?" },
  {
    value: "user",
    label: "A person",
    valueLabel: "Which person?",
    description: "The user named in your messages.",
  },
  {
    value: "tag",
    label: "A tag",
    valueLabel: "Which tag?",
    description: "A name and a value, such as team:growth.",
  },
];

const periods: { value: BudgetPeriod; label: string }[] = [
  { value: "day", label: "Every day" },
  { value: "week", label: "Every week" },
  { value: "month", label: "Every month" },
  { value: "quarter", label: "Every quarter" },
  { value: "year", label: "Every year" },
  { value: "once", label: "Never, for a single period" },
];

/** The dialog that creates a budget for all spend, or for one project, feature, provider, model, key, person or tag. */
export default function NewBudgetDialog({ workspace, onClose }: { workspace: string; onClose: () => void }) {
  const [type, setType] = useState<ScopeType>("global");
  const [values, setValues] = useState<string[]>([]);
  const [period, setPeriod] = useState<BudgetPeriod>("month");
  const [zone, setZone] = useState<string[]>([]);
  const options = useScopeOptions(workspace, type);
  const scope = scopes.find(({ value }) => value === type);
  const [receivers, setReceivers] = useState<Receivers>([]);
  const [typed, setTyped] = useState<BudgetFields>();
  /** The name for which the service asked whether to create the budget although no cost has it yet. */
  const [asked, setAsked] = useState<string>();
  const toRequest = ({ name, amount, alertAt, blocks, values: fields }: BudgetFields): Request => {
    const [from, last] = [textOf(fields, "starts_on"), textOf(fields, "ends_on")];
    return {
      ...(name && { name }),
      scope_type: type,
      scope_value: values[0] ?? null,
      amount: new ExactNumber(parseAmount(amount) ?? ""),
      currency: textOf(fields, "currency").toUpperCase() || "USD",
      blocks,
      period,
      ...(period === "week" && { week_starts_on: textOf(fields, "week_starts_on") as Weekday }),
      ...(zone[0] && { time_zone: zone[0] }),
      ...(from && { starts_on: from }),
      ...(last && { ends_on: last }),
      alert_at: toAlertAt(alertAt),
    };
  };
  const check = (fields: BudgetFields) => ({
    ...(type !== "global" && values.length === 0 && { scope_value: "choose one" }),
    ...checkBudget(fields),
  });
  const { run, reset, isPending, problem, fieldErrors } = useMutation(
    async (fields: BudgetFields) => {
      const path = `/api/v1/workspaces/${workspace}/budgets`;
      const isInsisted = asked !== undefined && asked === values[0];
      try {
        return await callApi<typeof budgetSchema, typeof createBudgetRequest>("POST", path, {
          ...toRequest(fields),
          warns: toWarns(receivers),
          ...(isInsisted && { allow_unknown_scope: true }),
        });
      } catch (error) {
        if (error instanceof ApiError && error.fieldErrors.scope_value?.includes("allow_unknown_scope"))
          setAsked(values[0]);
        throw error;
      }
    },
    { check, done: ({ name }) => `The budget ${name} is set.`, quiet: true },
  );
  const create = async (fields: BudgetFields) => {
    if (await run(fields)) onClose();
  };
  const isAsking = asked !== undefined && asked === values[0];
  const scopeError = isAsking
    ? `No cost names ${asked} yet. Correct it, or set the budget anyway.`
    : fieldErrors.scope_value;
  const isComplete = typed !== undefined && Object.keys(check(typed)).length === 0;
  return (
    <BudgetDialog
      title="Set a budget"
      description="A budget alerts you at the percentages that you choose. It can also refuse to record costs that would exceed its limit."
      amountLabel={amountLabels[period]}
      initial={{ alertAt: "50%, 80%, 100%", blocks: false }}
      nameDescription="Leave empty to name the budget after what it covers."
      submit={isAsking ? "Set the budget anyway" : "Set the budget"}
      isPending={isPending}
      problem={problem}
      fieldErrors={fieldErrors}
      onSubmit={create}
      onType={setTyped}
      onClose={onClose}
      more={
        <>
          <ReceiversField
            workspace={workspace}
            value={receivers}
            onChange={setReceivers}
            error={warnsError(fieldErrors)}
          />
          <BudgetDays period={period} zone={zone} onZone={setZone} fieldErrors={fieldErrors} />
          <BudgetPreviewText workspace={workspace} request={isComplete ? toRequest(typed) : undefined} />
        </>
      }
    >
      <FormField label="What does it cover?" error={fieldErrors.scope_type}>
        {(control) => (
          <Select
            {...control}
            value={type}
            onChange={({ currentTarget }) => {
              setType(currentTarget.value as ScopeType);
              setValues([]);
              reset();
            }}
          >
            {scopes.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      {scope?.valueLabel ? (
        <FormField label={scope.valueLabel} description={scope.description} error={scopeError}>
          {(control) => (
            <Combobox
              {...control}
              options={options}
              value={values}
              onChange={setValues}
              limit={1}
              allowNew={isNamed(type)}
              placeholder="Type to search"
            />
          )}
        </FormField>
      ) : null}
      <FormField label="How often does it reset?" error={fieldErrors.period}>
        {(control) => (
          <Select
            {...control}
            value={period}
            onChange={({ currentTarget }) => setPeriod(currentTarget.value as BudgetPeriod)}
          >
            {periods.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </FormField>
    </BudgetDialog>
  );
}

type Request = z.input<typeof createBudgetRequest>;

/** The kinds of scope a budget can have. */
type ScopeType = z.output<typeof budget>["scope_type"];

/** Whether the values of a kind of scope are names in messages. Such a name need not occur yet. */
function isNamed(type: ScopeType): type is Exclude<ScopeType, "global" | "project" | "key"> {
  return type !== "global" && type !== "project" && type !== "key";
}

type BudgetPeriod = z.output<typeof budget>["period"];

/**
 * The known values of a kind of scope: projects, active live keys, or the names in this year's costs.
 * Empty while they are loading or if they cannot be read; names can also be typed.
 */
function useScopeOptions(workspace: string, type: ScopeType): Option[] {
  const path = `/api/v1/workspaces/${workspace}`;
  const projects = useProjectList(workspace);
  const keys = useApi<typeof apiKeyList>(type === "key" ? `${path}/api-keys` : undefined).answer;
  const spend = useApi<typeof metrics>(isNamed(type) ? `${path}/metrics?period=year` : undefined).answer;
  if (type === "global") return [];
  if (type === "project") return projects.map((project) => toProjectOption(project, "slug"));
  if (type === "key") {
    const usable = keys?.api_keys.filter((key) => key.status === "active" && key.environment === "live");
    return (
      usable?.map(({ id, name, last_four }) => ({ value: id, label: name, hint: `…${last_four}` })) ?? []
    );
  }
  return spend?.[`by_${type}`].flatMap(({ value }) => (value === null ? [] : { value, label: value })) ?? [];
}
