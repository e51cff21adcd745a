export const channelKinds = ["webhook", "slack", "discord", "teams", "pagerduty", "email"] as const;
export type ChannelKind = (typeof channelKinds)[number];
