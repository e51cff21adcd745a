import { followCallback } from "@/lib/auth/callback";
import type { Handler } from "@/lib/http/define-route";

/** Where links in mails lead: turns their code into a session. */
export const GET: Handler = followCallback;
