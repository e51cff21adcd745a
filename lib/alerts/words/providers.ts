import { type Alert, readContext, readFigures } from "@/lib/alerts/alert";
import { pulledProviders } from "@/lib/contract/bills/pulled-providers";
import { type AlertWords, money, overText, periodText, shareText } from "./values";

/** Words an alert of the rule `bill_coverage`. */
export function coverageWords(alert: Alert): AlertWords {
  const figures = readFigures({ rule: "bill_coverage", details: alert.details });
  const { because } = readContext(alert);
  const { billed_usd: billed, missing_usd: missing, percent } = figures;
  const facts: [string, string][] = [
    ["Period", periodText(alert)],
    ["Billed", money(billed)],
    ["Not recorded", money(missing)],
  ];
  return alert.state === "ok"
    ? {
        title: "What is billed is recorded",
        text: overText(because, `${shareText(percent)} of what was billed is recorded.`, "workspace"),
        facts,
      }
    : {
        title: `${money(missing)} of the bills is not recorded`,
        text: `${shareText(percent)} of the ${money(billed)} that providers billed from ${periodText(alert)} is recorded.`,
        facts,
      };
}

/** Words an alert of the rule `bill_difference`. */
export function differenceWords(alert: Alert): AlertWords {
  const figures = readFigures({ rule: "bill_difference", details: alert.details });
  const { because } = readContext(alert);
  const [billed, recorded] = [money(figures.billed_usd), money(figures.recorded_usd)];
  const facts: [string, string][] = [
    ["Period", periodText(alert)],
    ["Billed", billed],
    ["Recorded", recorded],
  ];
  return alert.state === "ok"
    ? {
        title: "The bills and what is recorded agree",
        text: overText(
          because,
          `${billed} was billed, and ${recorded} of these days is recorded.`,
          "workspace",
        ),
        facts,
      }
    : {
        title: `The bills differ from what is recorded by ${money(figures.difference_usd)}`,
        text: `Providers billed ${billed} from ${periodText(alert)}, and ${recorded} of the billed days is recorded.`,
        facts,
      };
}

/** Words an alert of the rule `provider_limit`. */
export function limitWords(alert: Alert): AlertWords {
  const figures = readFigures({ rule: "provider_limit", details: alert.details });
  const { name, because } = readContext(alert);
  const { provider, target, limit_state: state, problem, written_usd: written, held_usd: held } = figures;
  const at = (pulledProviders as Record<string, { label: string }>)[provider]?.label ?? provider;
  const [wanted, present] = [written, held].map((usd) => (usd === null ? "none" : money(usd)));
  const facts: [string, string][] = [
    ["Provider", at],
    ...(target ? [["Limited there", target] as [string, string]] : []),
    ["Set", wanted ?? "none"],
    ["Holds", present ?? "none"],
  ];
  if (alert.state === "ok")
    return {
      title: `The limits of the budget ${name} at providers hold`,
      text:
        because === "gone"
          ? "It is not linked to a limit at a provider any more."
          : overText(because, "The provider holds the budget's limit.", "budget"),
      facts,
    };
  return state === "drift"
    ? {
        title: `${at} holds another limit than the budget ${name}`,
        text: `Someone has changed it there: it holds ${held === null ? "no limit" : present}, and ${wanted} was set.`,
        facts,
      }
    : {
        title: `${at} does not take the limit of the budget ${name}`,
        text: problem ?? "It gives no reason.",
        facts,
      };
}
