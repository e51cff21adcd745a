"use client";

import { useState } from "react";
import { callApi } from "@/components/requests/api";
import { useMutation } from "@/components/requests/use-mutation";
import { useProjectList } from "@/components/shell/use-project-list";
import { Alert } from "@/components/ui/alert";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { Combobox } from "@/components/ui/combobox";
import { Form } from "@/components/ui/form";
import { FormField, TextField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import type { apiKey, editApiKeyRequest } from "@/lib/contract/access/api-keys";
import { offeredAttributes } from "@/lib/contract/sources/source-programs";
import type { SourceSettings } from "@/lib/contract/sources/sources";
import { programs } from "./programs";
import {
  costLabels,
  type SettingsForm,
  toSettingsChange,
  toSettingsForm,
  usualCost,
} from "./settings-form-state";
import { TagFields } from "./tag-fields";

const toOptions = (names: readonly string[]) => names.map((name) => ({ value: name, label: name }));

/** The form of a source's settings, which apply from its next export. */
export function SourceSettingsForm({
  workspace,
  id,
  settings,
}: {
  workspace: string;
  id: string;
  settings: SourceSettings | null;
}) {
  const [form, setForm] = useState(() => toSettingsForm(settings));
  const projects = useProjectList(workspace);
  const { run, reset, isPending, problem, fieldErrors } = useMutation(
    (given: SettingsForm) =>
      callApi<typeof apiKey, typeof editApiKeyRequest>(
        "PATCH",
        `/api/v1/workspaces/${workspace}/api-keys/${id}`,
        { source: toSettingsChange(given) },
      ),
    { done: "Saved. The settings apply to the next export.", quiet: true },
  );
  const change = (changes: Partial<SettingsForm>) => {
    setForm((current) => ({ ...current, ...changes }));
    reset();
  };
  const errorOf = (field: string) => fieldErrors[`source.${field}`];
  const { unreported, subscriptions = "a Claude Max plan or a seat" } = settings?.program
    ? programs[settings.program]
    : {};

  return (
    <Form noValidate onSubmit={() => run(form)} className="grid max-w-2xl gap-6">
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <ChosenOne
          label="Project from the attribute"
          description="The value becomes a slug: “Checkout API” becomes checkout-api, and the address of a repository becomes its name."
          error={errorOf("project_attribute")}
          options={toOptions(offeredAttributes.project)}
          value={form.projectAttribute}
          onChange={(projectAttribute) => change({ projectAttribute })}
          placeholder="As the program reports"
        />
        <ChosenOne
          label="Default project"
          description="For records that name no project."
          error={errorOf("default_project")}
          options={projects.map(({ slug, name }) => ({
            value: slug,
            label: slug,
            ...(name !== slug && { hint: name }),
          }))}
          value={form.defaultProject}
          onChange={(defaultProject) => change({ defaultProject })}
          placeholder="The key's, or the service's name"
        />
        <ChosenOne
          label="Feature from the attribute"
          error={errorOf("feature_attribute")}
          options={toOptions(offeredAttributes.feature)}
          value={form.featureAttribute}
          onChange={(featureAttribute) => change({ featureAttribute })}
          placeholder="As the program reports"
        />
        <TextField
          label="Default feature"
          error={errorOf("default_feature")}
          value={form.defaultFeature}
          onChange={({ currentTarget }) => change({ defaultFeature: currentTarget.value })}
          placeholder="None"
          maxLength={128}
          autoComplete="off"
        />
      </div>
      <TagFields form={form} onChange={(tags) => change({ tags })} errors={fieldErrors} />
      <FormField
        label="Which cost is recorded?"
        error={errorOf("trusted_cost")}
        description={[form.cost === "usual" && `${usualCost}.`, unreported].filter(Boolean).join(" ")}
      >
        {(control) => (
          <Select
            {...control}
            value={form.cost}
            onChange={({ currentTarget }) => change({ cost: currentTarget.value as SettingsForm["cost"] })}
            className="max-w-md"
          >
            {Object.entries(costLabels).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      <Checkbox
        label="A subscription covers it"
        description={`Such as ${subscriptions}. Usage is recorded as included, at no cost, with its list price for comparison.`}
        checked={form.isCovered}
        onChange={({ currentTarget }) => change({ isCovered: currentTarget.checked })}
      />
      {problem ? <Alert variant="destructive">{problem}</Alert> : null}
      <Button type="submit" disabled={isPending} className="w-fit">
        Save
      </Button>
    </Form>
  );
}

/** A field for one of a few suggested names, or a typed one. */
function ChosenOne({
  label,
  description,
  error,
  value,
  onChange,
  ...combobox
}: {
  label: string;
  description?: string;
  error: string | undefined;
  options: { value: string; label: string; hint?: string }[];
  value: string;
  onChange: (value: string) => void;
  placeholder: string;
}) {
  return (
    <FormField label={label} error={error} {...(description && { description })}>
      {(control) => (
        <Combobox
          {...control}
          {...combobox}
          limit={1}
          allowNew
          value={value === "" ? [] : [value]}
          onChange={([chosen = ""]) => onChange(chosen)}
        />
      )}
    </FormField>
  );
}
