import {
  beginAuthenticator,
  confirmAuthenticator,
  removeAuthenticator,
  renewRecoveryCodes,
} from "@/app/(auth)/second-factor-actions";
import { SecondFactorSection } from "@/components/second-factor/second-factor-section";
import { readCodesLeft, readFactors } from "@/lib/access/sign-in/page-factors";
import { pageSession } from "@/lib/access/sign-in/page-session";

/** The two-factor settings of the signed-in user. */
export async function SecondFactor() {
  const session = await pageSession();
  const { authenticators } = await readFactors(session);
  const codes = authenticators.length > 0 ? await readCodesLeft(session) : undefined;
  return (
    <SecondFactorSection
      factors={authenticators}
      codes={codes}
      actions={{
        begin: beginAuthenticator,
        confirm: confirmAuthenticator,
        remove: removeAuthenticator,
        renewCodes: renewRecoveryCodes,
      }}
    />
  );
}
