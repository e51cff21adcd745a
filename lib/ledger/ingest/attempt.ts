import type { CostMessage, IngestRequest } from "@/lib/contract/ledger/message";
import type { Attempt } from "@/lib/keys/decide";
import { permissionOf } from "./call";

type Of<Type extends CostMessage["type"]> = Extract<CostMessage, { type: Type }>;

/** The parts of a request that the conditions of keys restrict. */
type Asked = Pick<IngestRequest, "project" | "source"> & {
  message:
    | Pick<Of<"usage">, "type" | "feature" | "user">
    | Pick<Of<"batch">, "type" | "items">
    | Pick<Of<"allocation">, "type" | "percent" | "from_project">
    | Pick<Of<"expense"> | Of<"subscription">, "type">;
};

/**
 * What the guard needs to know of a message, except its cost. The answer to an allocation reveals what its source has spent: with
 * `percent` the exact amount, and in a dry run without leaving a record. Both need `read_summaries`.
 */
export function attemptOf({ project, source, message }: Asked, dryRun = false): Attempt {
  const { type } = message;
  const revealsSpend = type === "allocation" && (message.percent !== undefined || dryRun);
  return {
    permissions: revealsSpend ? [permissionOf[type], "read_summaries"] : [permissionOf[type]],
    source,
    projects: type === "allocation" ? [project, message.from_project] : [project],
    ...aboutLines(message),
  };
}

/** The features and users of a message. Only usage has them; a key that is limited to users records only messages with a user. */
function aboutLines(message: Asked["message"]): Pick<Attempt, "features" | "users"> {
  if (message.type === "usage") return { features: [message.feature], users: [message.user] };
  if (message.type !== "batch") return { users: [undefined] };
  const { items } = message;
  return { features: items.map(({ feature }) => feature), users: items.map(({ user }) => user) };
}
