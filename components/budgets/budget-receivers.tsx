"use client";

import { useApi } from "@/components/requests/use-api";
import { Combobox } from "@/components/ui/combobox";
import type { Option } from "@/components/ui/combobox-option";
import { FormField } from "@/components/ui/form-field";
import type { organization } from "@/lib/contract/access/workspaces";
import type { channelList } from "@/lib/contract/alerts/alert-channels";
import type { Warned } from "./budget-view";

/** Receivers in the form of the field: `person:<id>` and `channel:<id>`. */
export type Receivers = string[];

const idsOf = (receivers: Receivers, kind: "person" | "channel") =>
  receivers.flatMap((each) => (each.startsWith(`${kind}:`) ? [each.slice(kind.length + 1)] : []));

/** Converts receivers to the form of a request. */
export const toWarns = (receivers: Receivers) => ({
  people: idsOf(receivers, "person"),
  channels: idsOf(receivers, "channel"),
});

/** The receivers that a budget names. */
export const receiversOf = ({ people, channels }: Warned): Receivers => [
  ...people.map(({ id }) => `person:${id}`),
  ...channels.map(({ id }) => `channel:${id}`),
];

/** The error of one of the receivers among the errors by the API's paths. */
export const warnsError = (fieldErrors: Record<string, string>) =>
  Object.entries(fieldErrors).find(([path]) => path.startsWith("warns"))?.[1];

/**
 * The field for the members and alert channels that a budget warns.
 * @param initial the present receivers, whose names are shown before the others are loaded
 */
export function ReceiversField({
  workspace,
  initial,
  value,
  onChange,
  error,
}: {
  workspace: string;
  initial?: Warned;
  value: Receivers;
  onChange: (receivers: Receivers) => void;
  error: string | undefined;
}) {
  const path = `/api/v1/workspaces/${workspace}`;
  const members = useApi<typeof organization>(`${path}/org`).answer?.members;
  const channels = useApi<typeof channelList>(`${path}/alert-channels`).answer?.channels;
  const options: Option[] = [
    ...(members?.map(({ user_id: id, display_name: name, email }) => ({
      value: `person:${id}`,
      label: name ?? email,
      hint: "by mail",
    })) ??
      initial?.people.map(({ id, name }) => ({ value: `person:${id}`, label: name })) ??
      []),
    ...(channels ?? initial?.channels ?? []).map(({ id, name }) => ({
      value: `channel:${id}`,
      label: name,
      hint: "channel",
    })),
  ];
  return (
    <FormField
      label="Whom does it warn?"
      optional
      description="People get a mail, channels a message. Leave empty to warn every channel whose rules want alerts of budgets."
      error={error}
    >
      {(control) => (
        <Combobox
          {...control}
          options={options}
          value={value}
          onChange={onChange}
          placeholder="People and channels"
        />
      )}
    </FormField>
  );
}
