"use client";

import { toProjectOption } from "@/components/shell/use-project-list";
import { Combobox } from "@/components/ui/combobox";
import { FormField } from "@/components/ui/form-field";
import { SegmentedControl } from "@/components/ui/segmented-control";
import type { KeyFormPart } from "./key-form-part";
import { errorOf, type KeyForm } from "./key-form-state";

const choices = [
  { value: "all", label: "Every project" },
  { value: "only", label: "Only some" },
  { value: "except", label: "All but some" },
];

const lists = { only: "project_slugs", except: "deny_project_slugs" } as const;

/** Chooses the projects that a key may use: all, only some, or all except some. */
export function ProjectChoice({
  form,
  change,
  errors,
  projects,
}: KeyFormPart & { projects: { id: string; slug: string; name: string }[] }) {
  const { where } = form;
  return (
    <div className="grid justify-items-start gap-3">
      <span aria-hidden="true" className="font-medium text-sm">
        Which projects may it use?
      </span>
      <SegmentedControl
        legend="Which projects may it use?"
        name="where"
        options={choices}
        value={where}
        onChange={(value) => change({ where: value as KeyForm["where"] })}
      />
      {where === "all" ? (
        <p className="text-muted-foreground text-xs">This includes projects that do not exist yet.</p>
      ) : (
        <div className="w-full">
          <FormField
            label={where === "only" ? "Allowed projects" : "Excluded projects"}
            error={errorOf(errors, `conditions.${lists[where]}`, form.projects)}
            description="You can also type the slug of a new project."
          >
            {(control) => (
              <Combobox
                {...control}
                options={projects.map((project) => toProjectOption(project, "slug"))}
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
