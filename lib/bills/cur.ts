import { type Decimal, DecimalError, isZero, parseDecimal, shiftDecimal } from "@/lib/decimal";
import { daysOfCharge } from "./focus";
import { dollars } from "./money";
import { type RowProblem, readCoordinates } from "./read-row";
import type { BilledRow } from "./statements";
import { memberOf } from "./tags";

type Values = Readonly<Record<string, string>>;

/** Services of AWS that the FOCUS export has in the category AI and Machine Learning, by the beginning of their codes. */
const aiServices =
  /^Amazon(Bedrock|SageMaker|Q|Comprehend|Lex|Polly|Rekognition|Textract|Transcribe|Translate|Kendra|Personalize|Forecast|Kiro)|^(transcribe|translate|comprehend)/;

/** Line items of usage. Others, such as taxes, credits and discounts, have amounts alone: their quantities would be counted twice. */
const usageTypes = new Set(["Usage", "DiscountedUsage", "SavingsPlanCoveredUsage"]);

/**
 * Reads a row of a CUR 2.0 file. Its unblended cost, over all types of line items, is what is billed. A row of another service than AI is
 * left out: models of other vendors are sold by AWS Marketplace under codes of their own, and named "(Amazon Bedrock Edition)".
 */
export function readCurRow(values: Values): BilledRow | RowProblem | { leftOut: Decimal } {
  const read = (column: string) => {
    const text = values[column]?.trim() ?? "";
    return text === "" || text.toLowerCase() === "null" ? undefined : text;
  };
  const currency = read("line_item_currency_code");
  if (currency?.toUpperCase() !== "USD")
    return { problem: `line_item_currency_code is ${currency ?? "empty"}; bills are in USD` };
  const product = read("product_product_name") ?? memberOf(read("product"), "product_name");
  const description = read("line_item_line_item_description");
  try {
    const amount = dollars(read("line_item_unblended_cost") ?? "");
    const codes = [read("line_item_product_code"), read("product_servicecode")];
    const isAi =
      codes.some((code) => code !== undefined && aiServices.test(code)) ||
      [product, description].some((text) => text?.includes("Bedrock"));
    if (!isAi) return { leftOut: amount };
    const days = daysOfCharge(values, "line_item_usage_start_date", "line_item_usage_end_date");
    if ("problem" in days) return days;
    const usageType = read("line_item_usage_type") ?? "";
    const type = read("line_item_line_item_type") ?? "";
    const isUsage = usageTypes.has(type);
    const places = placesOf(read("pricing_unit"));
    const quantity = read("line_item_usage_amount");
    const list = dollars((isUsage && read("pricing_public_on_demand_cost")) || "0");
    return {
      ...days,
      ...readCoordinates((field) => {
        if (field === "provider") return "AWS";
        if (field === "account") return read("bill_payer_account_id");
        if (field === "line") return isUsage ? usageType || description : `${type} ${usageType}`.trim();
        if (field === "model") return modelOf(usageType, product);
        if (field === "user") return personOf(read("line_item_iam_principal"));
        return field === "key" ? read("line_item_iam_principal") : tierOf(usageType);
      }),
      unit: isUsage ? unitOf(usageType) : null,
      amount,
      // 0 where it is not known.
      list: isZero(list) ? null : list,
      quantity:
        isUsage && quantity !== undefined && places !== undefined
          ? shiftDecimal(parseDecimal(quantity), places)
          : null,
    };
  } catch (error) {
    if (error instanceof DecimalError) return { problem: error.message };
    throw error;
  }
}

/** In which power of ten tokens are counted: "1K tokens", "1M tokens", "tokens". Undefined: what a unit is worth is not said. */
function placesOf(pricingUnit: string | undefined): number | undefined {
  const [, many] = /^(1K|1M|1000|1000000)?\s*\w*\s*tokens?$/i.exec(pricingUnit ?? "") ?? [null, null];
  if (many === null) return undefined;
  return many === undefined ? 0 : /^1K|^1000$/i.test(many) ? 3 : 6;
}

/** The unit of a usage type such as `USE1-Claude4.6Sonnet-input-tokens` or `USE1-MP:USE1_CacheReadInputTokenCount-Units`. */
function unitOf(usageType: string): string | null {
  const name = usageType.replaceAll(/[-_]/g, "").toLowerCase();
  const [, kind] =
    /(cacheread|cachewrite1h|cachewrite5m|cachewrite|input|output|response)\w*?token/.exec(name) ?? [];
  const units: Record<string, string> = {
    cacheread: "cache_read_tokens",
    cachewrite: "cache_write_tokens",
    cachewrite5m: "cache_write_5m_tokens",
    cachewrite1h: "cache_write_1h_tokens",
    ...{ input: "input_tokens", output: "output_tokens", response: "output_tokens" },
  };
  return (kind && units[kind]) ?? null;
}

/**
 * The person that a principal is: an IAM user, a federated user, or whoever assumed a role under an e-mail address, as IAM Identity Center has
 * it. Undefined for roles of programs.
 */
function personOf(principal: string | undefined): string | undefined {
  const [, user, session] =
    /^arn:[\w-]+:(?:iam::\d*:user|sts::\d*:federated-user)\/(?:.*\/)?([^/]+)$|^arn:[\w-]+:sts::\d*:assumed-role\/.*\/([^/]+@[^/]+)$/.exec(
      principal ?? "",
    ) ?? [];
  return user ?? session;
}

const tierOf = (usageType: string): string | undefined =>
  /[-_](batch|flex|priority)(?=[-_]|$)/i.exec(usageType)?.[1];

/**
 * The model of a row, as it is called at Bedrock without its vendor and date: of "Claude Haiku 4.5 (Amazon Bedrock Edition)" or
 * `USE1-Claude4.6Sonnet-input-tokens`. Undefined if neither names one.
 */
function modelOf(usageType: string, product: string | undefined): string | undefined {
  const edition = /^(.+?)\s*\(Amazon Bedrock Edition\)/.exec(product ?? "")?.[1];
  const [, counted] =
    /^(?:[A-Z]{2,4}\d?-)?([A-Za-z][\w.]*?)[-_](?:\w+[-_])*?(?:input|output|cache)[-_]/i.exec(usageType) ?? [];
  const name = edition ?? counted;
  if (name === undefined || /^MP$/i.test(name)) return undefined;
  const words = name.match(/[A-Za-z]+|\d+(?:\.\d+)*/g) ?? [];
  const version = words.find((word) => /^\d/.test(word));
  const [family, ...rest] = words.filter((word) => word !== version).map((word) => word.toLowerCase());
  if (version === undefined || family !== "claude") return words.join("-").toLowerCase();
  const number = version.replaceAll(".", "-");
  // Up to Claude 3.7, the version comes before the size.
  return (Number.parseFloat(version) < 4 ? [family, number, ...rest] : [family, ...rest, number]).join("-");
}
