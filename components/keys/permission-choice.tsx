"use client";

import { useState } from "react";
import { Checkbox, Radio } from "@/components/ui/checkbox";
import type { KeyPermission } from "@/lib/contract/access/permissions";
import type { KeyFormPart } from "./key-form-part";
import { errorOf } from "./key-form-state";
import { keyPresets, permissionLabels, presetOf } from "./presets";

/** Chooses the permissions of a key: a preset, or each permission separately. */
export function PermissionChoice({
  form,
  change,
  errors,
  grantable,
}: KeyFormPart & { grantable: readonly KeyPermission[] }) {
  const [isCustom, setCustom] = useState(() => !presetOf(form.permissions));
  const preset = isCustom ? undefined : presetOf(form.permissions);
  const offered = keyPresets.filter(({ permissions }) => permissions.every((one) => grantable.includes(one)));
  const error = errorOf(errors, "permissions");
  return (
    <fieldset className="grid gap-2.5" aria-describedby={error ? "permissions-error" : undefined}>
      <legend className="pb-2 font-medium text-sm">What may it do?</legend>
      {offered.map(({ id, label, description, permissions }) => (
        <Radio
          key={id}
          name="preset"
          label={label}
          description={description}
          checked={preset?.id === id}
          onChange={() => {
            setCustom(false);
            change({ permissions });
          }}
        />
      ))}
      <Radio
        name="preset"
        label="Something else"
        description="Choose each permission."
        checked={!preset}
        onChange={() => setCustom(true)}
      />
      {preset ? null : (
        <div className="grid gap-2.5 border-l pl-4 sm:ml-2">
          {grantable.map((permission) => (
            <Checkbox
              key={permission}
              {...permissionLabels[permission]}
              checked={form.permissions.includes(permission)}
              {...(error && { "aria-invalid": true })}
              onChange={({ currentTarget }) =>
                change({
                  // Keeps the order of the list, regardless of the order of the clicks.
                  permissions: grantable.filter((one) =>
                    one === permission ? currentTarget.checked : form.permissions.includes(one),
                  ),
                })
              }
            />
          ))}
        </div>
      )}
      {error ? (
        <p id="permissions-error" role="alert" className="text-destructive text-xs">
          {form.permissions.length === 0 ? "Choose at least one." : `A permission ${error}.`}
        </p>
      ) : null}
    </fieldset>
  );
}
