/** Id of the element that shows the telemetry of a provider account. It can have the focus. */
export const telemetryId = (accountId: string): string => `telemetry-${accountId}`;
