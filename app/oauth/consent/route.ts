import { answerConsentForm } from "@/lib/http/consent-form";
import { answerMethods } from "@/lib/http/define-route";

/** Handles the form of the consent page. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = answerMethods({ POST: answerConsentForm });
