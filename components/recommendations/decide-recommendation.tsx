"use client";

import { useState } from "react";
import { addDays, utcDay } from "@/components/figures/utc-day";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { controlOfNextRow, focusAfterDeletion } from "@/components/ui/focus-after";
import { Form, textOf } from "@/components/ui/form";
import { TextField } from "@/components/ui/form-field";
import type {
  DecideRecommendation,
  decideRecommendation,
  recommendation,
} from "@/lib/contract/spend/recommendations";
import { recommendationsId } from "./list-id";

const notices = {
  open: "The recommendation is open again.",
  accepted: "Accepted. What it saves is measured from tomorrow on.",
  declined: "Declined.",
  later: "It is shown again later.",
};

const priceIsSet = "The price is set. Usage since the first of this month is being corrected.";

function useDecision(path: string, isQuiet: boolean) {
  return useMutation(
    (decided: DecideRecommendation) =>
      callApi<typeof recommendation, typeof decideRecommendation>("POST", `${path}/decision`, decided),
    {
      done: ({ kind, state }) =>
        kind === "disputed_price" && state === "accepted" ? priceIsSet : notices[state],
      quiet: isQuiet,
    },
  );
}

/**
 * The buttons that decide a recommendation.
 * @param path its address in the API
 * @param title what it is about
 * @param accept the label of the button that accepts it
 */
export function DecideRecommendationButtons({
  path,
  title,
  accept,
}: {
  path: string;
  title: string;
  accept: string;
}) {
  const { run, isPending, problem, fieldErrors } = useDecision(path, true);
  const [declining, setDeclining] = useState<"asked" | "cancelled">();
  const decide = async (control: Element | null, decided: DecideRecommendation) => {
    const next = controlOfNextRow(control);
    if (await run(decided)) focusAfterDeletion(recommendationsId, next);
  };
  const later = (control: Element, days: number) =>
    decide(control, { decision: "later", until: addDays(utcDay(Date.now()), days) });
  return (
    <div className="grid gap-3 border-t pt-4">
      {declining === "asked" ? (
        <Form
          noValidate
          aria-label={`Decline: ${title}`}
          onSubmit={(fields) => decide(null, { decision: "decline", reason: textOf(fields, "reason") })}
          className="grid gap-3"
        >
          <TextField
            label="Reason"
            description="Kept with the decision and in the audit log."
            error={fieldErrors.reason}
            name="reason"
            maxLength={500}
            autoComplete="off"
            autoFocus
          />
          <div className="flex flex-wrap gap-2">
            <Button type="submit" size="sm" disabled={isPending}>
              Decline
            </Button>
            <Button variant="ghost" size="sm" onClick={() => setDeclining("cancelled")}>
              Cancel
            </Button>
          </div>
        </Form>
      ) : (
        <fieldset aria-label={title} className="flex flex-wrap gap-2">
          <Button
            variant="outline"
            size="sm"
            disabled={isPending}
            data-row-control
            onClick={({ currentTarget }) => decide(currentTarget, { decision: "accept" })}
          >
            {accept}
          </Button>
          <Button
            variant="outline"
            size="sm"
            disabled={isPending}
            autoFocus={declining === "cancelled"}
            onClick={() => setDeclining("asked")}
          >
            Decline
          </Button>
          <Button
            variant="ghost"
            size="sm"
            disabled={isPending}
            onClick={({ currentTarget }) => later(currentTarget, 6)}
          >
            Remind me in a week
          </Button>
          <Button
            variant="ghost"
            size="sm"
            disabled={isPending}
            onClick={({ currentTarget }) => later(currentTarget, 29)}
          >
            Remind me in a month
          </Button>
        </fieldset>
      )}
      {problem ? <Alert variant="destructive">{problem}</Alert> : null}
    </div>
  );
}

/** The button that takes a decision back. @param path the recommendation's address in the API */
export function ReopenRecommendation({ path }: { path: string }) {
  const { run, isPending } = useDecision(path, false);
  return (
    <Button
      variant="outline"
      size="sm"
      className="w-fit"
      disabled={isPending}
      data-row-control
      onClick={async ({ currentTarget }) => {
        const next = controlOfNextRow(currentTarget);
        if (await run({ decision: "reopen" })) focusAfterDeletion(recommendationsId, next);
      }}
    >
      Reopen
    </Button>
  );
}
