"use client";

import { formatExactPercent } from "@/components/figures/format-percent";
import { Checkbox } from "@/components/ui/checkbox";
import { textOf } from "@/components/ui/form";
import { FormField, TextField } from "@/components/ui/form-field";
import { Select } from "@/components/ui/select";
import type { AlertChannel, ChannelKind } from "@/lib/contract/alerts/alert-channels";
import type { AlertRule } from "@/lib/contract/alerts/alert-rules";
import { DigestFields, readDigest } from "./digest-fields";
import { ruleNames } from "./rule-view";

const ruleChoices = Object.entries(ruleNames) as [AlertRule, string][];

/** Errors of fields, by the API's paths. */
type FieldErrors = Record<string, string>;

const urlHints: Partial<Record<ChannelKind, { label: string; placeholder: string; description: string }>> = {
  webhook: {
    label: "Address",
    placeholder: "https://example.com/outlay",
    description: "Outlay posts JSON to this URL, signed according to Standard Webhooks.",
  },
  slack: {
    label: "Webhook URL",
    placeholder: "https://hooks.slack.com/services/…",
    description: "Slack: create an app with an incoming webhook for the channel, and copy its URL.",
  },
  discord: {
    label: "Webhook URL",
    placeholder: "https://discord.com/api/webhooks/…",
    description: "Discord: Edit channel, Integrations, Webhooks, Copy webhook URL.",
  },
  teams: {
    label: "Workflow URL",
    placeholder: "https://….logic.azure.com/workflows/…",
    description: "Teams: add the workflow “Send webhook alerts to a channel”, and copy its URL.",
  },
};

/** The fields for a channel's address. @param props.present the edited channel, whose values empty fields keep */
export function TargetFields({
  kind,
  present,
  errors,
}: {
  kind: ChannelKind;
  present?: AlertChannel;
  errors: FieldErrors;
}) {
  const hint = urlHints[kind];
  if (hint) {
    return (
      <>
        <TextField
          label={hint.label}
          optional={present !== undefined}
          description={present ? `Leave empty to keep the current one, ${present.target}.` : hint.description}
          error={errors.url}
          name="url"
          type="url"
          placeholder={hint.placeholder}
          maxLength={2048}
          autoComplete="off"
          spellCheck={false}
        />
        {kind === "slack" ? <SlackSecretField present={present} error={errors.signing_secret} /> : null}
      </>
    );
  }
  if (kind === "pagerduty") {
    return (
      <>
        <TextField
          label="Integration key"
          optional={present !== undefined}
          description={
            present
              ? "Leave empty to keep the current one."
              : "PagerDuty: the key of a service's integration “Events API V2”. An alert opens an incident and resolves it when the alert is over."
          }
          error={errors.routing_key}
          name="routing_key"
          maxLength={32}
          autoComplete="off"
          spellCheck={false}
        />
        <FormField label="Region of the account" error={errors.region}>
          {(control) => (
            <Select {...control} name="region" defaultValue={present?.target.includes("EU") ? "eu" : "us"}>
              <option value="us">United States</option>
              <option value="eu">Europe</option>
            </Select>
          )}
        </FormField>
      </>
    );
  }
  return (
    <TextField
      label="Addresses"
      description="E-mail addresses of members, separated by commas. To mail someone else, invite them as a viewer."
      error={errors.addresses ?? Object.entries(errors).find(([path]) => path.startsWith("addresses"))?.[1]}
      name="addresses"
      inputMode="email"
      placeholder="grace@example.com, ada@example.com"
      defaultValue={present?.target}
      autoComplete="off"
    />
  );
}

/** The field for the signing secret of a Slack app, and where the app sends clicks. */
function SlackSecretField({
  present,
  error,
}: {
  present: AlertChannel | undefined;
  error: string | undefined;
}) {
  return (
    <>
      <TextField
        label="Signing secret"
        optional
        description={
          present?.has_buttons
            ? "Set. Leave empty to keep it. Another one unlinks the Slack users of this channel."
            : "Slack: Basic Information of the app. With it, requests for more of a budget can be approved by a button."
        }
        error={error}
        name="signing_secret"
        maxLength={64}
        autoComplete="off"
        spellCheck={false}
      />
      {present?.has_buttons ? (
        <Checkbox name="no_signing_secret" label="Remove the signing secret and the button" />
      ) : null}
    </>
  );
}

/** The fields for a channel's name, its rules, its lowest threshold and its digest. */
export function CommonFields({ present, errors }: { present?: AlertChannel; errors: FieldErrors }) {
  const offered = [50, 80, 100];
  const least = present?.least_percent ?? null;
  const levels =
    least === null || offered.includes(least) ? offered : [...offered, least].sort((a, b) => a - b);
  return (
    <>
      <TextField
        label="Name"
        error={errors.name}
        name="name"
        placeholder="Finance"
        defaultValue={present?.name}
        maxLength={120}
        autoComplete="off"
      />
      <fieldset className="grid gap-2 sm:grid-cols-2">
        <legend className="pb-2 font-medium text-sm">Which alerts?</legend>
        {ruleChoices.map(([rule, label]) => (
          <Checkbox
            key={rule}
            name="rules"
            value={rule}
            label={label}
            defaultChecked={!present?.rules || present.rules.includes(rule)}
            {...(errors.rules && { "aria-invalid": true, "aria-describedby": "rules-error" })}
          />
        ))}
        {errors.rules ? (
          <p id="rules-error" role="alert" className="text-destructive text-xs sm:col-span-2">
            Choose at least one.
          </p>
        ) : null}
      </fieldset>
      <FormField label="Which thresholds?" error={errors.least_percent}>
        {(control) => (
          <Select {...control} name="least_percent" defaultValue={least ?? ""}>
            <option value="">Every threshold of a budget</option>
            {levels.map((percent) => (
              <option key={percent} value={percent}>
                {`From ${formatExactPercent(percent)} on`}
              </option>
            ))}
          </Select>
        )}
      </FormField>
      <DigestFields {...(present && { present })} errors={errors} />
    </>
  );
}

/** Converts the fields of a form to a request. Empty fields of the target are left out. */
export function readFields(kind: ChannelKind, fields: FormData) {
  const least = textOf(fields, "least_percent");
  const chosen = ruleChoices.flatMap(([rule]) => (fields.getAll("rules").includes(rule) ? [rule] : []));
  const common = {
    name: textOf(fields, "name"),
    // All rules, including those added later, if every rule was chosen.
    rules: chosen.length === ruleChoices.length ? null : chosen,
    least_percent: least === "" ? null : Number(least),
    digest: readDigest(fields),
  };
  if (kind === "email") {
    const addresses = textOf(fields, "addresses")
      .split(/[\s,;]+/)
      .filter(Boolean);
    return { ...common, addresses };
  }
  if (kind === "pagerduty") {
    const key = textOf(fields, "routing_key");
    const region = textOf(fields, "region") === "eu" ? ("eu" as const) : ("us" as const);
    return { ...common, ...(key && { routing_key: key, region }) };
  }
  const url = textOf(fields, "url");
  const secret = fields.has("no_signing_secret") ? null : textOf(fields, "signing_secret").trim();
  return { ...common, ...(url && { url }), ...(secret !== "" && { signing_secret: secret }) };
}
