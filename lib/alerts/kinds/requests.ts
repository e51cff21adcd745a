import type { Claimed } from "@/lib/alerts/delivery/claimed";
import type { OutgoingRequest } from "@/lib/alerts/delivery/post";
import { discordRequest } from "./discord";
import { pagerdutyRequest } from "./pagerduty";
import { slackRequest } from "./slack";
import { teamsRequest } from "./teams";
import { webhookRequest } from "./webhook";
import { wordDelivery } from "./wording";

/**
 * The request that sends a delivery to a channel that is not mail.
 * @param base the service's address. @param now milliseconds since 1970
 */
export function requestOf(delivery: Claimed, base: string, now: number): OutgoingRequest {
  const { kind, address } = delivery.channel;
  if (address === null) throw new Error("The channel has no address.");
  const wording = wordDelivery(delivery, base);
  switch (kind) {
    case "webhook":
      return webhookRequest(delivery, address, base, now);
    case "slack":
      return slackRequest(
        wording,
        address,
        delivery.channel.has_buttons && delivery.details?.state === "pending" ? delivery.details : undefined,
      );
    case "discord":
      return discordRequest(wording, address);
    case "teams":
      return teamsRequest(wording, address);
    case "pagerduty":
      return pagerdutyRequest(delivery, wording, address, base, now);
    case "email":
      throw new Error("A mail channel has no HTTP request.");
  }
}
