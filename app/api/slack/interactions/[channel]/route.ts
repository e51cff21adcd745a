import { setTimeout as wait } from "node:timers/promises";
import { answerInteraction, takeInteraction } from "@/lib/alerts/slack/clicks";
import { readDecodedBytes } from "@/lib/http/body";
import { answerMethods, type Handler } from "@/lib/http/define-route";
import { bodylessResponse, errorResponse, newRequestId } from "@/lib/http/reply";

/** The most bytes of an interaction, which has the message that was clicked on: 64 KiB. */
const bodyLimitBytes = 64 * 1024;

/** Slack waits three seconds for an answer. Later outcomes are sent to the `response_url` all the same. */
const patienceMs = 2_000;

/**
 * The Interactivity request URL of the Slack app that posts to an alert channel. Not declared: Slack signs the bytes of a form, and wants
 * an answer without a body.
 */
const receive: Handler = async (request, { params }) => {
  const requestId = newRequestId();
  try {
    const { channel } = await params;
    const body = await readDecodedBytes(request, bodyLimitBytes);
    const { headers } = request;
    const proof = {
      signature: headers.get("x-slack-signature"),
      timestamp: headers.get("x-slack-request-timestamp"),
    };
    const taken = await takeInteraction(String(channel), proof, body);
    if (taken) {
      const answered = new AbortController();
      await Promise.race([
        answerInteraction(taken),
        wait(patienceMs, undefined, { signal: answered.signal }).catch(() => {}),
      ]);
      answered.abort();
    }
    return bodylessResponse(200, requestId, {});
  } catch (error) {
    return errorResponse(error, requestId);
  }
};

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = answerMethods({ POST: receive });
