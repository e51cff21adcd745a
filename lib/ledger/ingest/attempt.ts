import type { CostMessage, IngestRequest } from "@/lib/contract/ledger/message";
import type { Attempt } from "@/lib/keys/decide";
import { permissionOf } from "./call";

type Of<Type extends CostMessage["type"]> = Extract<CostMessage, { type: Type }>;

/** What a message says of itself that conditions of keys are about. */
type Asked = Pick<IngestRequest, "project" | "source"> & {
  message:
    | Pick<Of<"usage">, "type" | "feature" | "user">
    | Pick<Of<"batch">, "type" | "items">
    | Pick<Of<"allocation">, "type" | "percent" | "from_project">
    | Pick<Of<"expense"> | Of<"subscription">, "type">;
};

/**
 * What the guard needs to know of a message, but for its cost. Whether an allocation is accepted tells what its source
 * has spent: by per cent it tells the very amount, and a dry run tells it without a trace. Both need `read_summaries`.
 */
export function attemptOf({ project, source, message }: Asked, dryRun = false): Attempt {
  const { type } = message;
  const tellsSpend = type === "allocation" && (message.percent !== undefined || dryRun);
  return {
    permissions: tellsSpend ? [permissionOf[type], "read_summaries"] : [permissionOf[type]],
    source,
    projects: type === "allocation" ? [project, message.from_project] : [project],
    ...aboutLines(message),
  };
}

/** Only usage has features and users. A key that is limited to users records nothing without one. */
function aboutLines(message: Asked["message"]): Pick<Attempt, "features" | "users"> {
  if (message.type === "usage") return { features: [message.feature], users: [message.user] };
  if (message.type !== "batch") return { users: [undefined] };
  const { items } = message;
  return { features: items.map(({ feature }) => feature), users: items.map(({ user }) => user) };
}
