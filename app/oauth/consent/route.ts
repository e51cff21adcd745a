import { answerConsentForm } from "@/lib/http/consent-form";

/** Takes the answer of the consent page's form. */
export { answerConsentForm as POST };
