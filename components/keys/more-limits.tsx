"use client";

import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { Checkbox } from "@/components/ui/checkbox";
import { Combobox } from "@/components/ui/combobox";
import { FormField } from "@/components/ui/form-field";
import { Input } from "@/components/ui/input";
import { SegmentedControl } from "@/components/ui/segmented-control";
import type { Source } from "@/lib/contract/message";
import type { KeyFormPart } from "./key-form-part";
import { errorOf, type KeyForm } from "./key-form-state";

const sources: { value: Source; label: string }[] = [
  { value: "api", label: "API" },
  { value: "mcp", label: "Assistants (MCP)" },
  { value: "manual", label: "By hand" },
  { value: "import", label: "Import" },
];

/** The fields in here, as the API names them. */
const ownFields =
  /^(conditions\.features|conditions\.sources|rate_limit_rpm|allowed_cidrs|environment|project_id)(\.|$)/;

/** What few keys need. Open from the start where one of them is set, and as soon as one of them is wrong. */
export function MoreLimits({
  form,
  change,
  errors,
  projects,
  isNew,
}: KeyFormPart & { projects: { id: string; slug: string; name: string }[]; isNew: boolean }) {
  const [isOpen, setOpen] = useState(
    () =>
      form.features.length + form.sources.length + form.allowedCidrs.length > 0 ||
      form.ratePerMinute !== "" ||
      form.project !== null,
  );
  const options = projects.map(({ id, name, slug }) => ({
    value: id,
    label: name,
    ...(name !== slug && { hint: slug }),
  }));
  // One that is archived is not offered, and still is what the key is bound to.
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
        {isNew ? (
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
              A test key writes and reads test data alone. This cannot be changed later.
            </p>
          </div>
        ) : null}
        <FormField
          label="One project alone"
          optional
          description="Binds the key to it, writing and reading. Wins over the choice of projects above."
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
              placeholder="Not bound to one"
            />
          )}
        </FormField>
        <FormField
          label="Features"
          optional
          description="The only features it may record usage under. Type one and press Enter."
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
                    sources: sources
                      .map((source) => source.value)
                      .filter((one) => (one === value ? currentTarget.checked : form.sources.includes(one))),
                  })
                }
              />
            ))}
          </div>
          <p className="text-muted-foreground text-xs">None chosen: from any.</p>
        </fieldset>
        <FormField label="Requests in any 60 seconds" optional error={errors.rate_limit_rpm}>
          {(control) => (
            <Input
              {...control}
              value={form.ratePerMinute}
              onChange={({ currentTarget }) => change({ ratePerMinute: currentTarget.value })}
              placeholder="No limit"
              inputMode="numeric"
              autoComplete="off"
              className="sm:max-w-48"
            />
          )}
        </FormField>
        <FormField
          label="Addresses it may be used from"
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
              placeholder="Anywhere"
            />
          )}
        </FormField>
      </div>
    </details>
  );
}
