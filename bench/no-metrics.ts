// Takes the place of `lib/metrics.ts` in the service that the bench compares with the one that counts.

const nothing = () => {};

export const metrics = {
  requests: { observe: nothing },
  refusals: { inc: nothing },
  messages: { inc: nothing },
  groupCalls: { observe: nothing },
  groupRetries: { inc: nothing },
  databaseCalls: { observe: nothing },
  jobRuns: { inc: nothing },
};

export const readGauge = nothing;

export const renderMetrics = async () => ({ text: "", contentType: "text/plain" });
