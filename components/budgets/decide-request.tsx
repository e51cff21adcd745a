"use client";

import { parseAmount } from "@/components/figures/parse-amount";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { focusResult } from "@/components/ui/focus-after";
import { Form, textOf } from "@/components/ui/form";
import { TextField } from "@/components/ui/form-field";
import type { budgetRequest, decideBudgetRequest } from "@/lib/contract/spend/budget-requests";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { checkBudgetAmount } from "./budget-dialog";
import { requestRowId } from "./request-row-id";

type Request = typeof budgetRequest;

/** The fields and buttons that approve a request, in whole or in part, or deny it, with a comment. */
export function DecideRequest({
  path,
  author,
  currency,
  most,
  until,
  isFixed,
}: {
  /** The request's address in the API. */
  path: string;
  author: string;
  currency: string;
  /** The most that may be granted, exact text. */
  most: string;
  /** The latest day on which the raise may end. */
  until: string;
  /** Whether the end is fixed, because there is a raise with that end already. */
  isFixed: boolean;
}) {
  const { run, isPending, problem, fieldErrors } = useMutation(
    (fields: FormData, decision: "approve" | "deny") => {
      const answer = textOf(fields, "answer");
      return callApi<Request, typeof decideBudgetRequest>("POST", `${path}/decision`, {
        decision,
        ...(answer !== "" && { answer }),
        ...(decision === "approve" && {
          amount: new ExactNumber(parseAmount(textOf(fields, "amount")) ?? ""),
          until: textOf(fields, "until"),
        }),
      });
    },
    {
      check: (fields, decision) =>
        decision === "deny"
          ? {}
          : {
              ...checkBudgetAmount(textOf(fields, "amount"), "amount"),
              ...(textOf(fields, "until") === "" && { until: "is required" }),
            },
      done: ({ state }) =>
        state === "approved"
          ? `The limit is raised. ${author} is notified.`
          : `Denied. ${author} is notified.`,
      quiet: true,
    },
  );
  const decide = async (fields: FormData, decision: "approve" | "deny") => {
    const decided = await run(fields, decision);
    if (decided) focusResult(`#${requestRowId(decided.id)}`);
  };
  return (
    <Form
      noValidate
      aria-label={`Decide the request of ${author}`}
      onSubmit={(fields) => decide(fields, "approve")}
      className="grid items-start gap-4 border-t pt-4 sm:grid-cols-3"
    >
      <TextField
        label={`Grant, in ${currency}`}
        error={fieldErrors.amount}
        name="amount"
        defaultValue={most}
        inputMode="decimal"
        autoComplete="off"
      />
      <TextField
        label="Raised through"
        description={isFixed ? "The limit is raised until then already, and this ends with it." : undefined}
        error={fieldErrors.until}
        name="until"
        type="date"
        max={until}
        readOnly={isFixed}
        defaultValue={until}
      />
      <TextField
        label="Message"
        optional
        error={fieldErrors.answer}
        name="answer"
        maxLength={500}
        autoComplete="off"
      />
      {problem ? (
        <Alert variant="destructive" className="sm:col-span-3">
          {problem}
        </Alert>
      ) : null}
      <div className="flex flex-wrap gap-2 sm:col-span-3">
        <Button type="submit" size="sm" disabled={isPending}>
          Approve
        </Button>
        <Button
          variant="outline"
          size="sm"
          disabled={isPending}
          onClick={(event) => {
            const { form } = event.currentTarget;
            if (form) void decide(new FormData(form), "deny");
          }}
        >
          Deny
        </Button>
      </div>
    </Form>
  );
}

/** The button that withdraws the reader's own request. @param path the request's address in the API */
export function WithdrawRequest({ path }: { path: string }) {
  const { run, isPending } = useMutation(() => callApi<Request>("DELETE", path), {
    done: "The request is withdrawn.",
  });
  const withdraw = async () => {
    const withdrawn = await run();
    if (withdrawn) focusResult(`#${requestRowId(withdrawn.id)}`);
  };
  return (
    <Button variant="outline" size="sm" className="w-fit" disabled={isPending} onClick={withdraw}>
      Withdraw
    </Button>
  );
}
