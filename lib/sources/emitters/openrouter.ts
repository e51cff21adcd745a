import { attribution, inferenceSpan } from "./conventions";
import type { Emitter } from "./emitter";

/**
 * OpenRouter's Broadcast: a span for each request, with the billed cost. `trace.*` in the body of a request becomes `trace.metadata.*`. If
 * its settings sample requests, the costs of the others are missing.
 */
export const openRouter: Emitter = {
  name: "openrouter",
  isCostTrusted: true,
  services: [/^openrouter/i],
  scopes: [/^openrouter/i],
  attributes: [
    "trace.metadata.openrouter.api_key_name",
    "trace.metadata.openrouter.provider_name",
    "openrouter.generation_id",
  ],
  rules: [
    {
      ...inferenceSpan,
      provider: "openrouter",
      // The requested model is the name on OpenRouter's price list.
      model: ["gen_ai.request.model", "gen_ai.response.model"],
      cost: {
        ...inferenceSpan.cost,
        parts: ["gen_ai.usage.input_cost", "gen_ai.usage.output_cost"],
      },
      identity: { response: ["gen_ai.response.id", "openrouter.generation_id"] },
      attribution: {
        user: ["user.id", ...attribution.user],
        session: ["session.id", ...attribution.session],
        feature: ["trace.metadata.feature", ...attribution.feature],
        project: ["trace.metadata.project", ...attribution.project],
        tags: {
          ...attribution.tags,
          team: ["trace.metadata.team", "team"],
          department: ["trace.metadata.department", "department"],
          cost_center: ["trace.metadata.cost_center", "cost_center"],
        },
      },
    },
  ],
};
