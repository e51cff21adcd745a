import type { z } from "zod";
import type { SourceSettings, sourceSettingsChange } from "@/lib/contract/sources/sources";

/** The values of the form of a source's settings, as typed. */
export type SettingsForm = {
  projectAttribute: string;
  defaultProject: string;
  featureAttribute: string;
  defaultFeature: string;
  tags: { id: number; name: string; attribute: string }[];
  /** The source of a recorded cost: the default choice, the program's figure, or the price list. */
  cost: "usual" | "program" | "prices";
  isCovered: boolean;
};

/** The fields of the form from the settings of a source; null gives those of a new source. */
export function toSettingsForm(settings: SourceSettings | null): SettingsForm {
  const trusted = settings?.trusted_cost ?? null;
  return {
    projectAttribute: settings?.project_attribute ?? "",
    defaultProject: settings?.default_project ?? "",
    featureAttribute: settings?.feature_attribute ?? "",
    defaultFeature: settings?.default_feature ?? "",
    tags: (settings?.tags ?? []).map((tag, id) => ({ id, ...tag })),
    cost: trusted === null ? "usual" : trusted ? "program" : "prices",
    isCovered: settings?.subscription_covered ?? false,
  };
}

/** The form as a change of the settings: every field of the form, so that an emptied one is cleared. */
export function toSettingsChange(form: SettingsForm): z.input<typeof sourceSettingsChange> {
  return {
    project_attribute: textOrNull(form.projectAttribute),
    default_project: textOrNull(form.defaultProject),
    feature_attribute: textOrNull(form.featureAttribute),
    default_feature: textOrNull(form.defaultFeature),
    tags: filled(form).map(({ name, attribute }) => ({ name: name.trim(), attribute: attribute.trim() })),
    trusted_cost: form.cost === "usual" ? null : form.cost === "program",
    subscription_covered: form.isCovered,
  };
}

/** The tags with a filled field, in the order of the request, because its errors name them by their position. */
export function filled({ tags }: SettingsForm): SettingsForm["tags"] {
  return tags.filter(({ name, attribute }) => name.trim() !== "" || attribute.trim() !== "");
}

function textOrNull(text: string): string | null {
  return text.trim() === "" ? null : text.trim();
}

/** The settings in words, for readers who may not change them. */
export function describeSettings(settings: SourceSettings | null): { label: string; value: string }[] {
  const { cost, isCovered, ...form } = toSettingsForm(settings);
  const from = (attribute: string, fallback: string) =>
    [attribute && `from ${attribute}`, fallback && `else ${fallback}`].filter(Boolean).join(", ") ||
    "as the program says";
  return [
    { label: "Project", value: from(form.projectAttribute, form.defaultProject) },
    { label: "Feature", value: from(form.featureAttribute, form.defaultFeature) },
    {
      label: "Tags",
      value:
        form.tags.map(({ name, attribute }) => `${name} from ${attribute}`).join(", ") ||
        "as the program says",
    },
    { label: "Cost", value: cost === "usual" ? usualCost : costLabels[cost] },
    { label: "Covered by a subscription", value: isCovered ? "yes" : "no" },
  ];
}

/** The choices of the cost, short enough for a select on a phone. */
export const costLabels: Record<SettingsForm["cost"], string> = {
  usual: "The usual one",
  program: "The cost that the program reports",
  prices: "The price list's, always",
};

/** What the usual cost is. */
export const usualCost = "The price list's, except for OpenRouter and LiteLLM: the one that they report";
