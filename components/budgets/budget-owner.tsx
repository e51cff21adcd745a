"use client";

import { parseAmount } from "@/components/figures/parse-amount";
import { useApi } from "@/components/requests/use-api";
import { textOf } from "@/components/ui/form";
import { FormField, TextField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import type { organization } from "@/lib/contract/access/workspaces";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import type { EditableBudget } from "./budget-view";

/** Converts the fields of a form to the owner in a request; null for none. */
export function ownerOf(values: FormData) {
  const id = textOf(values, "owner");
  const percent = parseAmount(textOf(values, "owner_percent"));
  return id === "" ? null : { id, ...(percent && { may_raise_percent: new ExactNumber(percent) }) };
}

/** The fields for who decides about requests for more of a budget besides admins, and by how much they may raise it. */
export function OwnerField({
  workspace,
  initial,
  value,
  onChange,
  fieldErrors,
}: {
  workspace: string;
  /** The present owner, whose name is shown before the members are loaded. */
  initial: EditableBudget["owner"];
  value: string;
  onChange: (id: string) => void;
  fieldErrors: Record<string, string>;
}) {
  const members = useApi<typeof organization>(`/api/v1/workspaces/${workspace}/org`).answer?.members;
  const options =
    members?.map(({ user_id: id, display_name: name, email }) => ({ id, name: name ?? email })) ??
    (initial ? [initial] : []);
  return (
    <div className={`grid gap-5 ${value === "" ? "" : "sm:grid-cols-2"}`}>
      <FormField
        label="Whose budget is it?"
        optional
        description="Its owner gets the requests for more, and may approve them."
        error={fieldErrors["owner.id"]}
      >
        {(control) => (
          <Select {...control} name="owner" value={value} onChange={(event) => onChange(event.target.value)}>
            <option value="">Nobody's</option>
            {options.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      {value === "" ? null : (
        <TextField
          label="Up to how much more, in %"
          description="Above the usual limit, in all."
          error={fieldErrors["owner.may_raise_percent"]}
          name="owner_percent"
          defaultValue={initial?.percent ?? "50"}
          inputMode="decimal"
          autoComplete="off"
        />
      )}
    </div>
  );
}
