import type { ReactNode } from "react";
import { FormField, TextField } from "@/components/ui/form-field";
import { Textarea } from "@/components/ui/textarea";

type FieldsProps = {
  fieldErrors: Record<string, string>;
  /** The initial values of the fields, by name. */
  values?: Record<string, string>;
};

/** The fields of an expense. */
export function ExpenseFields({ fieldErrors, values = {} }: FieldsProps) {
  return (
    <>
      <MessageField name="vendor" label="Paid to" fieldErrors={fieldErrors} values={values} />
      <AmountFields fieldErrors={fieldErrors} values={values} />
      <MessageField name="category" label="Category" optional fieldErrors={fieldErrors} values={values} />
      <FormField label="Notes" optional error={fieldErrors["message.notes"]}>
        {(control) => <Textarea {...control} name="notes" rows={2} defaultValue={values.notes} />}
      </FormField>
    </>
  );
}

/** The fields of one charge of a subscription. */
export function SubscriptionFields({ fieldErrors, values = {} }: FieldsProps) {
  return (
    <>
      <Pair>
        <MessageField name="vendor" label="Paid to" fieldErrors={fieldErrors} values={values} />
        <MessageField name="plan" label="Plan" optional fieldErrors={fieldErrors} values={values} />
      </Pair>
      <AmountFields fieldErrors={fieldErrors} values={values} />
    </>
  );
}

function AmountFields({ fieldErrors, values = {} }: FieldsProps) {
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_7rem] items-start gap-3">
      <MessageField
        name="amount"
        label="Amount"
        inputMode="decimal"
        fieldErrors={fieldErrors}
        values={values}
      />
      <MessageField
        name="currency"
        label="Currency"
        fieldErrors={fieldErrors}
        values={{ currency: "USD", ...values }}
      />
    </div>
  );
}

/** The fields of usage with one line. */
export function UsageFields({ fieldErrors, values = {} }: FieldsProps) {
  const shared = { fieldErrors, values };
  return (
    <>
      <Pair>
        <MessageField name="provider" label="Provider" placeholder="openai" {...shared} />
        <MessageField name="model" label="Model" placeholder="gpt-4o" optional {...shared} />
      </Pair>
      <Pair>
        <MessageField name="quantity" label="Quantity" inputMode="decimal" {...shared} />
        <MessageField name="unit_type" label="Unit" placeholder="input_tokens" {...shared} />
      </Pair>
      <Pair>
        <MessageField
          name="estimated_cost"
          label="Cost in USD"
          inputMode="decimal"
          optional
          description="Leave empty to use the price of the catalogue."
          {...shared}
        />
        <MessageField name="feature" label="Feature" optional {...shared} />
      </Pair>
    </>
  );
}

function Pair({ children }: { children: ReactNode }) {
  return <div className="grid grid-cols-2 items-start gap-3">{children}</div>;
}

/** A text field of the message, with the error that the API reports for it. */
function MessageField({
  name,
  fieldErrors,
  values = {},
  ...field
}: FieldsProps & {
  name: string;
  label: string;
  optional?: boolean;
  description?: string;
  placeholder?: string;
  inputMode?: "decimal";
}) {
  const value = values[name];
  return (
    <TextField
      name={name}
      error={fieldErrors[`message.${name}`]}
      autoComplete="off"
      {...(value !== undefined && { defaultValue: value })}
      {...field}
    />
  );
}
