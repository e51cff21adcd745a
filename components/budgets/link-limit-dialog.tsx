"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useApi } from "@/components/requests/use-api";
import { useMutation } from "@/components/requests/use-mutation";
import { Alert } from "@/components/ui/alert";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form, textOf } from "@/components/ui/form";
import { FormField } from "@/components/ui/form-field";
import { Link } from "@/components/ui/link";
import { Select } from "@/components/ui/select";
import { type LimitKind, limitingProviders, takesLimits } from "@/lib/contract/bills/limit-kinds";
import type { ProviderAccount, providerAccountList } from "@/lib/contract/bills/provider-accounts";
import type {
  limitTargetList,
  linkProviderLimitRequest,
  providerLimit,
} from "@/lib/contract/bills/provider-limits";
import { pulledProviders } from "@/lib/contract/bills/pulled-providers";
import type { EditableBudget } from "./budget-view";
import { formatHeld } from "./limit-text";

const nameOf = ({ provider, account }: ProviderAccount) =>
  [pulledProviders[provider].label, account].filter(Boolean).join(" ");

const keyOf = ({ kind, id }: { kind: LimitKind; id: string }) => `${kind}:${id}`;

/** Links a budget to a limit at a provider: chooses the account, what is limited there, and what happens when the budget is deleted. */
export default function LinkLimitDialog({
  workspace,
  budget,
  onClose,
}: {
  workspace: string;
  budget: EditableBudget;
  onClose: () => void;
}) {
  const { answer, problem } = useApi<typeof providerAccountList>(
    `/api/v1/workspaces/${workspace}/provider-accounts`,
  );
  const accounts = answer?.accounts.filter(({ provider }) => takesLimits(provider));
  const hasPeriod = ["day", "week", "month"].includes(budget.period);
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent>
        <DialogHeader>
          <DialogTitle>Limit {budget.name} at a provider</DialogTitle>
          <DialogDescription>
            The provider itself then refuses calls beyond the budget's limit. Outlay sets each change of the
            limit there, and checks it every day.
          </DialogDescription>
        </DialogHeader>
        {!hasPeriod ? (
          <Alert>
            Providers have limits per day, week and month, and this budget has another period. Create a budget
            per month, and limit that one.
          </Alert>
        ) : problem ? (
          <Alert variant="destructive">{problem.message}</Alert>
        ) : accounts === undefined ? (
          <p className="text-muted-foreground text-sm">Loading the providers</p>
        ) : accounts.length === 0 ? (
          <Alert>
            No provider that takes limits is connected yet. Add one in{" "}
            <Link href={`/${workspace}/settings/bills`} className="underline underline-offset-4">
              Settings → Bills
            </Link>
            , with a key that may set limits.
          </Alert>
        ) : (
          <LinkForm workspace={workspace} budget={budget} accounts={accounts} onClose={onClose} />
        )}
      </DialogContent>
    </Dialog>
  );
}

function LinkForm({
  workspace,
  budget,
  accounts,
  onClose,
}: {
  workspace: string;
  budget: EditableBudget;
  accounts: ProviderAccount[];
  onClose: () => void;
}) {
  const [accountId, setAccountId] = useState(() => {
    const ofScope = accounts.find(({ provider }) => provider === budget.fixed.scope_value);
    return (ofScope ?? accounts[0])?.id ?? "";
  });
  const account = accounts.find(({ id }) => id === accountId);
  const path = `/api/v1/workspaces/${workspace}`;
  const { answer: listed, problem: unread } = useApi<typeof limitTargetList>(
    `${path}/provider-accounts/${accountId}/limit-targets?budget_id=${budget.id}`,
  );
  const targets = listed?.targets ?? [];
  const { run, isPending, problem, fieldErrors } = useMutation(
    (fields: FormData) => {
      const chosen = textOf(fields, "target");
      const [kind = "", ...rest] = chosen.split(":");
      const target = targets.find((each) => keyOf(each) === chosen);
      return callApi<typeof providerLimit, typeof linkProviderLimitRequest>(
        "POST",
        `${path}/provider-limits`,
        {
          ...{
            budget_id: budget.id,
            account_id: accountId,
            kind: kind as LimitKind,
            target_id: rest.join(":"),
          },
          ...(target && { target_name: target.name }),
          removes_limit: textOf(fields, "removes") === "true",
        },
      );
    },
    {
      quiet: true,
      check: (fields): Record<string, string> =>
        textOf(fields, "target") === "" ? { target_id: "is required" } : {},
      done: "The limit is being set at the provider.",
    },
  );
  const failure = unread?.message ?? listed?.problem;
  const limiting = account && takesLimits(account.provider) ? limitingProviders[account.provider] : undefined;
  return (
    <Form
      onSubmit={async (fields) => {
        if (await run(fields)) onClose();
      }}
      noValidate
      className="grid grid-cols-[minmax(0,1fr)] gap-4"
    >
      <FormField
        label="Provider"
        error={fieldErrors.account_id ?? fieldErrors.budget_id}
        description={limiting?.note}
      >
        {(control) => (
          <Select
            {...control}
            // The dialog was open while the providers were loaded, with the focus on its first button.
            autoFocus
            value={accountId}
            onChange={(event) => setAccountId(event.target.value)}
          >
            {accounts.map((each) => (
              <option key={each.id} value={each.id}>
                {nameOf(each)}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      {failure ? (
        <Alert variant="destructive" className="[overflow-wrap:anywhere]">
          {failure} Limits need {limiting?.needs}.
        </Alert>
      ) : (
        <FormField
          label="What is limited"
          error={fieldErrors.target_id ?? fieldErrors.kind}
          description={
            limiting?.unit === "dollar"
              ? "Its present limit is replaced. Cents are cut off, so that it lets no more through than the budget."
              : "Its present limit is replaced."
          }
        >
          {(control) => (
            <Select {...control} key={accountId} name="target" disabled={listed === undefined}>
              {listed === undefined ? <option value="">Asking the provider</option> : null}
              {listed !== undefined && targets.length === 0 ? (
                <option value="">It has nothing to limit per {budget.period}</option>
              ) : null}
              {targets.map((target) => (
                <option key={keyOf(target)} value={keyOf(target)} disabled={target.is_linked}>
                  {target.name}
                  {target.kind === "organization"
                    ? ""
                    : `, ${limiting?.kinds[target.kind]?.label ?? target.kind}`}
                  {target.is_linked ? " (linked to a budget)" : ""}
                  {target.held && !target.is_linked ? ` (${formatHeld(target.held)})` : ""}
                </option>
              ))}
            </Select>
          )}
        </FormField>
      )}
      <FormField label="When the budget is deleted">
        {(control) => (
          <Select {...control} name="removes" defaultValue="true">
            <option value="true">Remove the limit at the provider</option>
            <option value="false">Leave the limit at the provider</option>
          </Select>
        )}
      </FormField>
      <DialogFormFooter
        submit={isPending ? "Linking" : "Set the limit"}
        isPending={isPending || listed === undefined || (failure !== undefined && failure !== null)}
        problem={problem}
      />
    </Form>
  );
}
