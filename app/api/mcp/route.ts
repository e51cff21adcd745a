import type { Handler } from "@/lib/http/define-route";
import { answerMcp } from "@/lib/mcp/http";

const answer: Handler = (request, { peer }) => answerMcp(request, peer);

/** The agent tools over HTTP. Not `defineRoute`: what comes in and goes out is the protocol's, not ours. */
export { answer as DELETE, answer as GET, answer as OPTIONS, answer as PATCH, answer as POST, answer as PUT };
