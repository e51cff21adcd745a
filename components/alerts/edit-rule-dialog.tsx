"use client";

import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { Dialog, DialogContent, DialogDescription, DialogHeader, DialogTitle } from "@/components/ui/dialog";
import { DialogFormFooter } from "@/components/ui/dialog-form-footer";
import { Form, textOf } from "@/components/ui/form";
import { TextField } from "@/components/ui/form-field";
import type {
  AlertRuleSetting,
  alertRuleSetting,
  editAlertRuleRequest,
} from "@/lib/contract/alerts/alert-rules";
import { describeRule, parameterLabels, ruleNames } from "./rule-view";

/** Sets the parameter of a rule. */
export default function EditRuleDialog({
  workspace,
  rule,
  onClose,
}: {
  workspace: string;
  rule: AlertRuleSetting;
  onClose: () => void;
}) {
  const { run, isPending, problem, fieldErrors } = useMutation(
    (fields: FormData) => {
      const given = textOf(fields, "parameter");
      return callApi<typeof alertRuleSetting, typeof editAlertRuleRequest>(
        "PATCH",
        `/api/v1/workspaces/${workspace}/alert-rules/${rule.rule}`,
        { parameter: given === "" ? null : Number(given) },
      );
    },
    { done: `The rule ${ruleNames[rule.rule]} is changed.`, quiet: true },
  );
  const save = async (fields: FormData) => {
    if (await run(fields)) onClose();
  };
  const { parameter } = rule;
  return (
    <Dialog open onOpenChange={onClose}>
      <DialogContent className="sm:max-w-md">
        <Form noValidate onSubmit={save} className="grid gap-5">
          <DialogHeader>
            <DialogTitle>{ruleNames[rule.rule]}</DialogTitle>
            <DialogDescription>{describeRule(rule)}</DialogDescription>
          </DialogHeader>
          {parameter ? (
            <TextField
              label={parameterLabels[rule.rule] ?? "Value"}
              description={`From ${parameter.least} to ${parameter.most}. Leave empty for the default, ${parameter.default}.`}
              error={fieldErrors.parameter}
              name="parameter"
              inputMode="decimal"
              defaultValue={parameter.value}
              autoComplete="off"
            />
          ) : null}
          <DialogFormFooter submit="Save" isPending={isPending} problem={problem} />
        </Form>
      </DialogContent>
    </Dialog>
  );
}
