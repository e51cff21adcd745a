import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { instant, text, uuid } from "@/lib/contract/values/fields";

/** Links a Slack user by the link of a message. */
export const linkSlackUserRequest = z
  .strictObject({
    token: text(100).meta({
      description: "What follows `token=` in the link that Slack shows after a click.",
    }),
  })
  .meta({ id: "LinkSlackUserRequest" });

/** A Slack user whose clicks decide as the caller. */
export const slackLink = z
  .object({
    id: uuid,
    slack_name: z.string().meta({ description: "The Slack user, as Slack called them when they clicked." }),
    channel_name: z.string().meta({
      description: "The alert channel on whose messages their clicks count.",
    }),
    created_at: instant,
  })
  .meta({ id: "SlackLink" });
export type SlackLink = z.output<typeof slackLink>;

export const slackLinkList = z
  .object({ links: z.array(slackLink).meta({ description: "The oldest first." }) })
  .meta({ id: "SlackLinkList" });

export const slackLinkParams = z.strictObject({ slug: workspaceSlug, id: uuid });
