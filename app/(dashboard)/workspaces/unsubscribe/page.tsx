import type { Metadata } from "next";
import { EndReport } from "@/components/alerts/end-report";
import { AuthCard, TextLink } from "@/components/auth/auth-card";
import { endReportQuery } from "@/lib/contract/spend/weekly-report";

export const metadata: Metadata = { title: "Unsubscribe", robots: { index: false }, referrer: "no-referrer" };

type Props = { searchParams: Promise<Record<string, string | string[] | undefined>> };

/**
 * The target of the unsubscribe link of a weekly report. The report ends only when the reader presses the button, because mail
 * programs open links automatically. The page needs no account.
 */
export default async function UnsubscribePage({ searchParams }: Props) {
  const { token } = await searchParams;
  const query = endReportQuery.safeParse({ token });
  return (
    <AuthCard
      title="Weekly report"
      about={
        query.success
          ? "You will receive no weekly report of this workspace any more. You can turn it on again on the page Alerts."
          : "This link is not complete. Open it from the mail again, or turn the report off on the page Alerts."
      }
      footer={
        <p>
          <TextLink href="/workspaces">Go to your workspaces</TextLink>
        </p>
      }
    >
      {query.success ? <EndReport token={query.data.token} /> : null}
    </AuthCard>
  );
}
