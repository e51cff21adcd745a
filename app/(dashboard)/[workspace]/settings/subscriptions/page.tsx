import { Repeat } from "lucide-react";
import type { Metadata } from "next";
import { requireWorkspace } from "@/app/(dashboard)/[workspace]/membership";
import { readRememberedViews } from "@/app/(dashboard)/[workspace]/remembered-views";
import { SettingsSection, SettingsSections } from "@/components/settings/settings-section";
import { subscriptionsId } from "@/components/subscriptions/subscription-id";
import { SubscriptionTable } from "@/components/subscriptions/subscription-table";
import { toSubscriptionView } from "@/components/subscriptions/subscription-view";
import { buttonVariants } from "@/components/ui/button";
import { EmptyState } from "@/components/ui/empty-state";
import { listSubscriptions } from "@/lib/ledger/recurring/service";

export const metadata: Metadata = { title: "Subscriptions" };

type Props = { params: Promise<{ workspace: string }> };

/** The recurring subscriptions of a workspace: running ones, and those that were stopped or have ended. */
export default async function SubscriptionsPage({ params }: Props) {
  const { claims, user, workspace } = await requireWorkspace((await params).workspace);
  const { slug, role } = workspace;
  const { subscriptions } = await listSubscriptions(claims, slug);
  const views = await readRememberedViews(user.id);
  const running = subscriptions.filter(({ next_on: next }) => next !== null);
  const past = subscriptions.filter(({ next_on: next }) => next === null);
  if (subscriptions.length === 0) {
    return (
      <SettingsSection title="Subscriptions">
        <EmptyState
          icon={<Repeat />}
          title="No recurring subscription"
          action={
            <a href="/docs" className={buttonVariants({ variant: "outline" })}>
              Open the API reference
            </a>
          }
        >
          A subscription that a program records with <code className="font-mono">recurring: true</code>{" "}
          appears here. Its later charges are booked automatically.
        </EmptyState>
      </SettingsSection>
    );
  }
  return (
    <SettingsSections>
      <div id={subscriptionsId} tabIndex={-1} className="outline-none">
        <SettingsSection
          title="Subscriptions"
          description={
            running.length === 0
              ? "No subscription has a next charge."
              : "Charges are booked automatically until the subscription ends or is stopped here."
          }
        >
          {running.length === 0 ? null : (
            <SubscriptionTable
              subscriptions={running.map(toSubscriptionView)}
              views={views}
              workspace={slug}
              label="Running subscriptions"
              canStop={role !== "viewer"}
            />
          )}
        </SettingsSection>
      </div>
      {past.length === 0 ? null : (
        <SettingsSection title="Stopped and ended">
          <SubscriptionTable
            subscriptions={past.map(toSubscriptionView)}
            views={views}
            workspace={slug}
            label="Stopped and ended subscriptions"
            isPast
            canStop={false}
          />
        </SettingsSection>
      )}
    </SettingsSections>
  );
}
