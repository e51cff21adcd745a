import type { Handler } from "@/lib/http/define-route";
import { answerMcp } from "@/lib/mcp/http";

const answer: Handler = (request, { peer }) => answerMcp(request, peer);

/** The agent tools over HTTP. Without `defineRoute`, because MCP defines the requests and answers. */
export { answer as DELETE, answer as GET, answer as OPTIONS, answer as PATCH, answer as POST, answer as PUT };
