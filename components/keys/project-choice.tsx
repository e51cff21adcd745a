"use client";

import { Combobox } from "@/components/ui/combobox";
import { FormField } from "@/components/ui/form-field";
import { SegmentedControl } from "@/components/ui/segmented-control";
import type { KeyFormPart } from "./key-form-part";
import { errorOf, type KeyForm } from "./key-form-state";

const places = [
  { value: "all", label: "Every project" },
  { value: "only", label: "Only some" },
  { value: "except", label: "All but some" },
];

const lists = { only: "project_slugs", except: "deny_project_slugs" } as const;

/** Where a key may do what it may. */
export function ProjectChoice({
  form,
  change,
  errors,
  projects,
}: KeyFormPart & { projects: { slug: string; name: string }[] }) {
  const { where } = form;
  return (
    <div className="grid justify-items-start gap-3">
      <span aria-hidden="true" className="font-medium text-sm">
        In which projects?
      </span>
      <SegmentedControl
        legend="In which projects?"
        name="where"
        options={places}
        value={where}
        onChange={(value) => change({ where: value as KeyForm["where"] })}
      />
      {where === "all" ? (
        <p className="text-muted-foreground text-xs">Those that do not exist yet included.</p>
      ) : (
        <div className="w-full">
          <FormField
            label={where === "only" ? "The projects it may touch" : "The projects it may not touch"}
            error={errorOf(errors, `conditions.${lists[where]}`, form.projects)}
            description="Type the slug of a project that does not exist yet to name it in advance."
          >
            {(control) => (
              <Combobox
                {...control}
                options={projects.map(({ slug, name }) => ({
                  value: slug,
                  label: name,
                  ...(name !== slug && { hint: slug }),
                }))}
                value={form.projects}
                onChange={(chosen) => change({ projects: chosen })}
                placeholder="Find a project or type a slug"
                allowNew
              />
            )}
          </FormField>
        </div>
      )}
    </div>
  );
}
