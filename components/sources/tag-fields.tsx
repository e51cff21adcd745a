"use client";

import { Plus, X } from "lucide-react";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { maxTags } from "@/lib/contract/ledger/limits";
import { offeredAttributes } from "@/lib/contract/sources/source-programs";
import { filled, type SettingsForm } from "./settings-form-state";

/** The tags of a source: a name for each, and the attribute whose value it has. */
export function TagFields({
  form,
  onChange,
  errors,
}: {
  form: SettingsForm;
  onChange: (tags: SettingsForm["tags"]) => void;
  /** Errors of fields, by the API's paths. */
  errors: Record<string, string>;
}) {
  const { tags } = form;
  const sent = filled(form);
  const errorOf = (tag: SettingsForm["tags"][number], field: "name" | "attribute") =>
    errors[`source.tags.${sent.indexOf(tag)}.${field}`];
  const change = (id: number, changes: Partial<SettingsForm["tags"][number]>) =>
    onChange(tags.map((tag) => (tag.id === id ? { ...tag, ...changes } : tag)));
  const add = () => {
    const used = new Set(tags.map(({ attribute }) => attribute));
    const attribute = offeredAttributes.tags.find((name) => !used.has(name)) ?? "";
    const id = Math.max(-1, ...tags.map((tag) => tag.id)) + 1;
    onChange([...tags, { id, attribute, name: attribute.replace(/\..*/, "") }]);
  };
  return (
    <fieldset className="grid grid-cols-[minmax(0,1fr)] gap-2">
      <legend className="pb-1.5 font-medium text-sm">Tags</legend>
      {tags.length === 0 ? (
        <p className="text-muted-foreground text-sm">
          As the program reports: team, cost center, department and deployment, where it has them.
        </p>
      ) : null}
      {tags.map((tag, index) => {
        const error = errorOf(tag, "name") ?? errorOf(tag, "attribute");
        return (
          <div key={tag.id} className="grid gap-1">
            <div className="flex items-center gap-2">
              <Input
                aria-label={`Name of tag ${index + 1}`}
                value={tag.name}
                onChange={({ currentTarget }) => change(tag.id, { name: currentTarget.value })}
                placeholder="team"
                maxLength={64}
                autoComplete="off"
                {...(errorOf(tag, "name") && { "aria-invalid": true })}
              />
              <span className="shrink-0 text-muted-foreground text-sm">from</span>
              <Input
                aria-label={`Attribute of tag ${index + 1}`}
                value={tag.attribute}
                onChange={({ currentTarget }) => change(tag.id, { attribute: currentTarget.value })}
                placeholder="team"
                maxLength={128}
                autoComplete="off"
                {...(errorOf(tag, "attribute") && { "aria-invalid": true })}
              />
              <Button
                variant="ghost"
                size="icon"
                aria-label={`Remove tag ${index + 1}`}
                onClick={() => onChange(tags.filter(({ id }) => id !== tag.id))}
              >
                <X aria-hidden="true" />
              </Button>
            </div>
            {error ? (
              <p role="alert" className="text-destructive text-xs">
                {error}
              </p>
            ) : null}
          </div>
        );
      })}
      {tags.length < maxTags ? (
        <Button variant="outline" size="sm" className="w-fit" onClick={add}>
          <Plus aria-hidden="true" />
          Add a tag
        </Button>
      ) : null}
    </fieldset>
  );
}
