"use client";

import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { toProjectOption } from "@/components/shell/use-project-list";
import { Checkbox } from "@/components/ui/checkbox";
import { Combobox } from "@/components/ui/combobox";
import type { Option } from "@/components/ui/combobox-option";
import { FormField, TextField } from "@/components/ui/form-field";
import { SegmentedControl } from "@/components/ui/segmented-control";
import type { MessageSource } from "@/lib/contract/ledger/message";
import type { KeyFormPart } from "./key-form-part";
import { errorOf, type KeyForm } from "./key-form-state";

const sources: { value: MessageSource; label: string }[] = [
  { value: "api", label: "API" },
  { value: "mcp", label: "Assistants (MCP)" },
  { value: "manual", label: "By hand" },
  { value: "import", label: "Import" },
];

/** The API's paths of the fields in this part of the form. */
const ownFields =
  /^(conditions\.features|conditions\.sources|conditions\.users|rate_limit_rpm|allowed_cidrs|environment|project_id)(\.|$)/;

/** The limits that few keys need, folded away. Open at first when one of them is set, and whenever one has an error. */
export function MoreLimits({
  form,
  change,
  errors,
  projects,
  isNew,
}: KeyFormPart & { projects: { id: string; slug: string; name: string }[]; isNew: boolean }) {
  const [isOpen, setOpen] = useState(
    () =>
      form.features.length + form.sources.length + form.users.length + form.allowedCidrs.length > 0 ||
      form.ratePerMinute !== "" ||
      form.project !== null,
  );
  const options: Option[] = projects.map((project) => toProjectOption(project, "id"));
  // An archived project is not offered, but a key may still be bound to it.
  if (form.project && !projects.some(({ id }) => id === form.project?.id)) {
    options.push({ value: form.project.id, label: form.project.slug });
  }
  const hasError = Object.keys(errors).some((path) => ownFields.test(path));
  return (
    <details
      open={isOpen || hasError}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className="group rounded-lg border"
    >
      <summary className="flex items-center gap-2 rounded-lg px-3.5 py-2.5 font-medium text-sm">
        <ChevronRight
          aria-hidden="true"
          className="size-4 text-muted-foreground transition-transform duration-100 group-open:rotate-90"
        />
        More limits
      </summary>
      <div className="grid gap-5 border-t p-3.5">
        {isNew ? <EnvironmentChoice form={form} change={change} /> : null}
        <FormField
          label="Limit to one project"
          optional
          description="The key can then write to and read this project only. This overrides the projects chosen above."
          error={errors.project_id}
        >
          {(control) => (
            <Combobox
              {...control}
              limit={1}
              options={options}
              value={form.project ? [form.project.id] : []}
              onChange={([id]) => {
                if (id !== form.project?.id)
                  change({ project: projects.find((one) => one.id === id) ?? null });
              }}
              placeholder="Not bound"
            />
          )}
        </FormField>
        <FormField
          label="Features"
          optional
          description="The only features it may record usage for. Type one and press Enter."
          error={errorOf(errors, "conditions.features", form.features)}
        >
          {(control) => (
            <Combobox
              {...control}
              options={[]}
              allowNew
              value={form.features}
              onChange={(features) => change({ features })}
              placeholder="Any feature"
            />
          )}
        </FormField>
        <FormField
          label="Users"
          optional
          description="The only users it may record for, as named in your messages. It can then read only what was recorded for them. Type one and press Enter."
          error={errorOf(errors, "conditions.users", form.users)}
        >
          {(control) => (
            <Combobox
              {...control}
              options={[]}
              allowNew
              value={form.users}
              onChange={(users) => change({ users })}
              placeholder="Any user"
            />
          )}
        </FormField>
        <SourceChoice form={form} change={change} />
        <TextField
          label="Requests in any 60 seconds"
          optional
          error={errors.rate_limit_rpm}
          value={form.ratePerMinute}
          onChange={({ currentTarget }) => change({ ratePerMinute: currentTarget.value })}
          placeholder="No limit"
          inputMode="numeric"
          autoComplete="off"
          className="sm:max-w-48"
        />
        <FormField
          label="Allowed IP addresses"
          optional
          description="Addresses or ranges, like 203.0.113.0/24. Type one and press Enter."
          error={errorOf(errors, "allowed_cidrs", form.allowedCidrs)}
        >
          {(control) => (
            <Combobox
              {...control}
              options={[]}
              allowNew
              value={form.allowedCidrs}
              onChange={(allowedCidrs) => change({ allowedCidrs })}
              placeholder="Any address"
            />
          )}
        </FormField>
      </div>
    </details>
  );
}

function EnvironmentChoice({ form, change }: Pick<KeyFormPart, "form" | "change">) {
  return (
    <div className="grid justify-items-start gap-1.5">
      <span aria-hidden="true" className="font-medium text-sm">
        Environment
      </span>
      <SegmentedControl
        legend="Environment"
        name="environment"
        options={[
          { value: "live", label: "Live" },
          { value: "test", label: "Test" },
        ]}
        value={form.environment}
        onChange={(value) => change({ environment: value as KeyForm["environment"] })}
      />
      <p className="text-muted-foreground text-xs">
        A test key writes and reads only test data. This cannot be changed later.
      </p>
    </div>
  );
}

function SourceChoice({ form, change }: Pick<KeyFormPart, "form" | "change">) {
  return (
    <fieldset className="grid gap-2">
      <legend className="pb-2 font-medium text-sm">Sources</legend>
      <div className="flex flex-wrap gap-x-5 gap-y-2">
        {sources.map(({ value, label }) => (
          <Checkbox
            key={value}
            label={label}
            checked={form.sources.includes(value)}
            onChange={({ currentTarget }) =>
              change({
                // Keeps the order of the list, regardless of the order of the clicks.
                sources: sources
                  .map((source) => source.value)
                  .filter((one) => (one === value ? currentTarget.checked : form.sources.includes(one))),
              })
            }
          />
        ))}
      </div>
      <p className="text-muted-foreground text-xs">If you choose none, every source is allowed.</p>
    </fieldset>
  );
}
