"use client";

import { useState } from "react";
import { flushSync } from "react-dom";
import { formatAmount } from "@/components/figures/money";
import { parseAmount } from "@/components/figures/parse-amount";
import { addDays } from "@/components/figures/utc-day";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { focusResult } from "@/components/ui/focus-after";
import { Form, textOf } from "@/components/ui/form";
import { FormField, TextField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import { Textarea } from "@/components/ui/textarea";
import type { askForBudget, budgetRequest } from "@/lib/contract/spend/budget-requests";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { requestRowId } from "./request-row-id";

/** A budget, or a key with a monthly limit, whose raise can be requested. `limit` is exact text in its currency. */
export type AskedLimit = {
  kind: "budget" | "key";
  id: string;
  name: string;
  limit: string;
  currency: string;
};

type Request = typeof budgetRequest;

/** Parses the requested raise: an amount, or a share like `20%`; undefined for other text. */
function parseMore(typed: string): { amount: ExactNumber } | { percent: ExactNumber } | undefined {
  const isShare = /%\s*$/.test(typed);
  const digits = parseAmount(typed.replace(/\s*%\s*$/, ""));
  if (!digits || Number(digits) === 0) return undefined;
  return isShare ? { percent: new ExactNumber(digits) } : { amount: new ExactNumber(digits) };
}

/** Finds what is wrong with the fields, by the API's paths. */
function checkFields(fields: FormData): Record<string, string> {
  return {
    ...(!parseMore(textOf(fields, "more")) && { amount: "must be an amount or a share, like 50 or 20%" }),
    ...(textOf(fields, "reason") === "" && { reason: "is required: those who decide read it" }),
    ...(textOf(fields, "until") === "" && { until: "is required" }),
  };
}

/** The form that requests a raise of a budget or of a key's monthly limit until a day. */
export function AskForMore({
  workspace,
  limits,
  chosen,
  today,
}: {
  workspace: string;
  limits: AskedLimit[];
  /** The id of the initially chosen budget or key. */
  chosen: string | undefined;
  /** The present day, UTC. */
  today: string;
}) {
  const [id, setId] = useState(limits.find((limit) => limit.id === chosen)?.id ?? limits[0]?.id ?? "");
  // Remounts the form after a request, so that its fields are empty again.
  const [sent, setSent] = useState(0);
  const limit = limits.find((each) => each.id === id);
  const { run, isPending, problem, fieldErrors } = useMutation(
    (fields: FormData) =>
      callApi<Request, typeof askForBudget>("POST", `/api/v1/workspaces/${workspace}/budget-requests`, {
        ...(limit?.kind === "key" ? { key_id: id } : { budget_id: id }),
        ...parseMore(textOf(fields, "more")),
        reason: textOf(fields, "reason"),
        until: textOf(fields, "until"),
      }),
    {
      check: checkFields,
      done: ({ amount, budget }) =>
        `You asked for ${formatAmount(amount, budget?.currency ?? "USD")} more. You get a mail when it is decided.`,
      quiet: true,
    },
  );
  const ask = async (fields: FormData) => {
    const made = await run(fields);
    if (!made) return;
    flushSync(() => setSent(sent + 1));
    focusResult(`#${requestRowId(made.id)}`);
  };
  return (
    <Form
      key={sent}
      noValidate
      onSubmit={ask}
      aria-label="Ask for more"
      className="grid items-start gap-5 rounded-lg border bg-card p-4 sm:grid-cols-2"
    >
      <FormField label="Which limit?" error={fieldErrors.budget_id ?? fieldErrors.key_id}>
        {(control) => (
          <Select {...control} name="limit" value={id} onChange={(event) => setId(event.target.value)}>
            <Options label="Budgets" limits={limits.filter(({ kind }) => kind === "budget")} />
            <Options label="Monthly limits of keys" limits={limits.filter(({ kind }) => kind === "key")} />
          </Select>
        )}
      </FormField>
      <TextField
        label="How much more?"
        description={
          limit
            ? `The limit is ${formatAmount(limit.limit, limit.currency)}. An amount in ${limit.currency}, or a share like 20%.`
            : undefined
        }
        error={fieldErrors.amount ?? fieldErrors.percent}
        name="more"
        autoComplete="off"
      />
      <FormField label="What is it for?" error={fieldErrors.reason}>
        {(control) => <Textarea {...control} name="reason" maxLength={500} />}
      </FormField>
      <TextField
        label="Until which day?"
        description="The limit falls back by itself on the day after."
        error={fieldErrors.until}
        name="until"
        type="date"
        min={today}
        defaultValue={addDays(today, 7)}
      />
      {problem ? (
        <Alert variant="destructive" className="sm:col-span-2">
          {problem}
        </Alert>
      ) : null}
      <div className="sm:col-span-2">
        <Button type="submit" disabled={isPending}>
          {isPending ? "Asking…" : "Ask for more"}
        </Button>
      </div>
    </Form>
  );
}

function Options({ label, limits }: { label: string; limits: AskedLimit[] }) {
  if (limits.length === 0) return null;
  return (
    <optgroup label={label}>
      {limits.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </optgroup>
  );
}
