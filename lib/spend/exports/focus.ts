import type { Membership } from "@/lib/contract/access/me";
import { fromTagList } from "@/lib/contract/ledger/attribution";
import type { MessageType } from "@/lib/contract/ledger/message";
import { postedOn } from "@/lib/contract/values/clock";
import { type CsvCell, csvNumber } from "@/lib/contract/values/csv";
import { addMonths } from "@/lib/ledger/recurring/periods";
import { labelOf } from "@/lib/spend/activity/label";
import { addDays, addMonthStart } from "@/lib/spend/period";
import type { ExportColumn } from "./export-rows";
import type { ExportedPosting } from "./unfold";

/** A charge: a posting in a workspace. Each line of a batch is its own charge, because it has one model and one unit. */
type Charge = ExportedPosting & { workspace: Membership };

/** The FOCUS charge category and frequency of each message type. An allocation corrects which project a cost belongs to. */
const classes: Record<MessageType, { category: string; frequency: string; unit: string }> = {
  usage: { category: "Usage", frequency: "Usage-Based", unit: "" },
  batch: { category: "Usage", frequency: "Usage-Based", unit: "" },
  expense: { category: "Purchase", frequency: "One-Time", unit: "Expenses" },
  subscription: { category: "Purchase", frequency: "Recurring", unit: "Months" },
  allocation: { category: "Adjustment", frequency: "One-Time", unit: "" },
  bill_adjustment: { category: "Adjustment", frequency: "One-Time", unit: "" },
};

const isUsage = ({ message_type: type }: Charge) => type === "usage" || type === "batch";
const isPurchase = ({ message_type: type }: Charge) => type === "expense" || type === "subscription";
const dayOfBilling = ({ occurred_at, workspace }: Charge) =>
  postedOn(workspace.time_zone, occurred_at.getTime());
/** The day of a charge. An adjustment is billed in the month in which it is booked, for the day on which its cost occurred. */
const dayOfCharge = ({ occurred_at, adjusts, workspace }: Charge) =>
  postedOn(workspace.time_zone, (adjusts ?? occurred_at).getTime());
const midnight = (day: string) => `${day}T00:00:00Z`;
const provider = (charge: Charge) => charge.provider ?? charge.workspace.name;
/** Between the parts of a description. Programs that check FOCUS files refuse other characters than ASCII. */
export const descriptionSeparator = ", ";

/**
 * A column of the type Decimal has a decimal point in every cell: readers that infer a column's type from its text take one of whole
 * numbers for integers.
 */
const decimal = (digits: string | null): CsvCell =>
  csvNumber(digits === null || digits.includes(".") ? digits : `${digits}.0`);
const cost = (charge: Charge) => decimal(charge.amount_usd);
/** A purchase has the quantity 1 (-1 when voided); an allocation has none. */
const quantity = (charge: Charge) =>
  decimal(
    isPurchase(charge) ? (charge.voids === null ? "1" : "-1") : isUsage(charge) ? charge.quantity : null,
  );
const unit = (charge: Charge) =>
  isUsage(charge) ? unitOf(charge) : classes[charge.message_type].unit || null;

/**
 * A unit as FOCUS's UnitFormat writes it: capitalized words, each beginning with a letter. Tokens of every kind are `Tokens`, as those of
 * providers are; the kind is in `x_Unit`.
 */
export function unitOf({ unit_type: unit }: Pick<Charge, "unit_type">): string | null {
  if (unit === null || /(^|[^a-z])tokens$/i.test(unit)) return unit && "Tokens";
  return unit
    .replaceAll(/[^\p{L}\p{N}]+(?=\p{N})/gu, "")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
}

/** The label of an adjustment to a bill is of our own making, too. */
function describe(charge: Charge): string {
  const label = labelOf(charge, descriptionSeparator);
  return charge.message_type === "bill_adjustment" ? label.replaceAll(" · ", descriptionSeparator) : label;
}

/** FOCUS calls a correction what changes a billing period that is over, and leaves any other charge without a class. */
function chargeClass(charge: Charge): string | null {
  const { voids, corrects, adjusts, created_at, workspace } = charge;
  if (adjusts !== null) return "Correction";
  if (voids === null && corrects === null) return null;
  const recordedOn = postedOn(workspace.time_zone, created_at.getTime());
  const isOver = recordedOn.slice(0, 7) > dayOfCharge(charge).slice(0, 7);
  return isOver ? "Correction" : null;
}

/**
 * The columns of FOCUS 1.2: every mandatory one, the others that the ledger can fill, and what is ours alone behind `x_`.
 * The ledger knows what was paid and no discounts, so the four costs are the same, except for what a subscription covers.
 */
export const focusColumns: ExportColumn<Charge>[] = [
  ["BilledCost", cost],
  ["BillingAccountId", ({ workspace }) => workspace.id],
  ["BillingAccountName", ({ workspace }) => workspace.name],
  ["BillingAccountType", () => "Workspace"],
  ["BillingCurrency", () => "USD"],
  ["BillingPeriodEnd", (charge) => midnight(addMonthStart(dayOfBilling(charge), 1))],
  ["BillingPeriodStart", (charge) => midnight(addMonthStart(dayOfBilling(charge), 0))],
  ["ChargeCategory", (charge) => classes[charge.message_type].category],
  ["ChargeClass", chargeClass],
  ["ChargeDescription", describe],
  ["ChargeFrequency", (charge) => classes[charge.message_type].frequency],
  [
    "ChargePeriodEnd",
    (charge) => {
      const day = dayOfCharge(charge);
      return midnight(charge.message_type === "subscription" ? addMonths(day, 1) : addDays(day, 1));
    },
  ],
  ["ChargePeriodStart", (charge) => midnight(dayOfCharge(charge))],
  // There are none. Without the column, checking programs cannot judge the quantity.
  ["CommitmentDiscountStatus", () => null],
  ["ConsumedQuantity", (charge) => decimal(isUsage(charge) ? charge.quantity : null)],
  ["ConsumedUnit", (charge) => (isUsage(charge) ? unitOf(charge) : null)],
  ["ContractedCost", cost],
  ["EffectiveCost", cost],
  // Recommended; the ledger knows no invoices.
  ["InvoiceId", () => null],
  ["InvoiceIssuerName", provider],
  // What a subscription covers is billed with the subscription; its list price is all that it has.
  ["ListCost", (charge) => decimal(charge.list_price_usd ?? charge.amount_usd)],
  ["PricingQuantity", quantity],
  ["PricingUnit", unit],
  ["ProviderName", provider],
  ["PublisherName", provider],
  ["ResourceId", (charge) => charge.key_id],
  ["ResourceName", (charge) => charge.key_name],
  ["ResourceType", (charge) => (charge.key_id === null ? null : "API key")],
  ["ServiceCategory", (charge) => (isUsage(charge) ? "AI and Machine Learning" : "Other")],
  ["ServiceName", (charge) => (isUsage(charge) ? (charge.model ?? provider(charge)) : provider(charge))],
  ["ServiceSubcategory", (charge) => (isUsage(charge) ? "Generative AI" : "Other (Other)")],
  ["SubAccountId", (charge) => charge.project_slug],
  ["SubAccountName", (charge) => charge.project_name],
  ["SubAccountType", () => "Project"],
  [
    "Tags",
    ({ environment, feature, tags }) =>
      JSON.stringify({ environment, ...(feature !== null && { feature }), ...fromTagList(tags) }),
  ],
  ["x_Adjusts", (charge) => charge.adjusts?.toISOString() ?? null],
  ["x_CorrectedBy", (charge) => charge.corrected_by],
  ["x_Corrects", (charge) => charge.corrects],
  ["x_CostStatus", (charge) => charge.cost_status],
  ["x_Emitter", (charge) => charge.emitter],
  ["x_Environment", (charge) => charge.environment],
  ["x_Feature", (charge) => charge.feature],
  ["x_MessageId", (charge) => charge.id],
  ["x_MessageType", (charge) => charge.message_type],
  ["x_Model", (charge) => charge.model],
  ["x_OccurredAt", (charge) => charge.occurred_at.toISOString()],
  ["x_Part", (charge) => csvNumber(String(charge.part))],
  ["x_Source", (charge) => charge.source],
  ["x_Unit", (charge) => charge.unit_type],
  ["x_User", (charge) => charge.end_user],
  ["x_VoidedBy", (charge) => charge.voided_by],
  ["x_Voids", (charge) => charge.voids],
];
