import { answerConsentForm } from "@/lib/http/consent-form";
import { answerMethods } from "@/lib/http/define-route";

/** Takes the answer of the consent page's form. */
export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = answerMethods({ POST: answerConsentForm });
