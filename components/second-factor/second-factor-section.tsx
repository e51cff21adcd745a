import { Time } from "@/components/figures/time";
import { SettingsSection } from "@/components/settings/settings-section";
import { AddAuthenticator } from "./add-authenticator";
import { RemoveAuthenticator } from "./remove-authenticator";
import { RenewCodes } from "./renew-codes";
import type { CodesLeft, FactorView, SecondFactorActions } from "./second-factor";

/**
 * The two-factor settings of an account: authenticator apps and recovery codes.
 * @param props.codes null if none were created; undefined if the identity provider does not support them
 */
export function SecondFactorSection({
  factors,
  codes,
  actions,
}: {
  factors: FactorView[];
  codes: CodesLeft | null | undefined;
  actions: SecondFactorActions;
}) {
  const isOn = factors.length > 0;
  return (
    <>
      <SettingsSection
        title="Two-factor authentication"
        description={
          isOn
            ? "After your password or link, signing in asks for a code from one of these apps."
            : "Signing in also asks for a code from an app on your phone, so your password alone is not enough."
        }
        actions={
          <AddAuthenticator
            actions={actions}
            isFirst={!isOn}
            suggestedName={isOn ? "" : "Authenticator app"}
          />
        }
      >
        {isOn ? (
          <ul className="divide-y rounded-lg border">
            {factors.map((factor) => (
              <li key={factor.id} className="flex items-center justify-between gap-4 px-4 py-3">
                <div className="grid min-w-0 gap-0.5">
                  <span className="truncate font-medium text-sm">{factor.name}</span>
                  <span className="text-muted-foreground text-xs">
                    Added <Time at={factor.createdAt} />
                    {factor.lastUsedAt ? (
                      <>
                        , last used <Time at={factor.lastUsedAt} />
                      </>
                    ) : null}
                  </span>
                </div>
                <RemoveAuthenticator factor={factor} factors={factors} actions={actions} />
              </li>
            ))}
          </ul>
        ) : null}
      </SettingsSection>
      {isOn && codes !== undefined ? (
        <SettingsSection
          title="Recovery codes"
          description={
            codes
              ? `${codes.remaining} of ${codes.total} are left. Each code signs you in once without your authenticator.`
              : "You have none. A recovery code lets you sign in if you lose your authenticator."
          }
          actions={<RenewCodes actions={actions} hasCodes={codes !== null} />}
        >
          {null}
        </SettingsSection>
      ) : null}
    </>
  );
}
