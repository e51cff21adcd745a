import { SettingsSection } from "@/components/settings/settings-section";
import { Time } from "@/components/time";
import { AddAuthenticator } from "./add-authenticator";
import { RemoveAuthenticator } from "./remove-authenticator";
import { RenewCodes } from "./renew-codes";
import type { CodesLeft, FactorView, SecondFactorActions } from "./second-factor";

/**
 * Two-factor authentication in an account's settings: authenticator apps, and recovery codes for when one is lost.
 * @param codes null where none were made; undefined where the identity provider has none to give
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
            ? "After your password or link, signing in asks for a code of one of these apps."
            : "An app on your phone shows a code that signing in asks for, after your password or link. Whoever learns your password alone does not get in."
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
              ? `${codes.remaining} of ${codes.total} are left. Each of them signs you in once without your authenticator.`
              : "You have none. With one of them you can sign in when your authenticator is lost."
          }
          actions={<RenewCodes actions={actions} hasCodes={codes !== null} />}
        >
          {null}
        </SettingsSection>
      ) : null}
    </>
  );
}
