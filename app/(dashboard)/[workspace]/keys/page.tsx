import { ChevronRight, KeyRound } from "lucide-react";
import type { Metadata } from "next";
import { KeyTable } from "@/components/keys/key-table";
import { keysSentenceId, summarizeKeys, toKeyBudgets, toKeyView } from "@/components/keys/key-view";
import { NewKey } from "@/components/keys/new-key";
import { PageHeader } from "@/components/shell/page-header";
import { EmptyState } from "@/components/ui/empty-state";
import { listApiKeys } from "@/lib/keys/management/service";
import { readCoveringBudgets } from "@/lib/spend/limits/covering-budgets";
import { requireWorkspace } from "../membership";
import { readRememberedViews } from "../remembered-views";
import { serviceAddresses } from "../service-addresses";

export const metadata: Metadata = { title: "Keys" };

type Props = { params: Promise<{ workspace: string }> };

/** The API keys of a workspace: what each may do, what it spent, and when it was last used. Inactive keys are folded away. */
export default async function KeysPage({ params }: Props) {
  const { claims, user, workspace } = await requireWorkspace((await params).workspace);
  const {
    api_keys,
    can_create,
    grantable_permissions: grantable,
  } = await listApiKeys(claims, workspace.slug);
  const budgets = await readCoveringBudgets(claims, workspace.slug, api_keys);
  const keys = api_keys.map((key) => ({
    ...toKeyView(key),
    budgets: toKeyBudgets(budgets.get(key.id) ?? []),
  }));
  const active = keys.filter(({ status }) => status === "active");
  const past = keys.filter(({ status }) => status !== "active");
  const context = { workspace: workspace.slug, grantable, addresses: serviceAddresses() };
  const views = await readRememberedViews(user.id);
  return (
    <>
      {/* NewKey stays mounted when the first key is created, because it shows that key's secret. */}
      <PageHeader title="Keys" actions={can_create ? <NewKey {...context} /> : null} />
      {keys.length === 0 ? (
        <EmptyState icon={<KeyRound />} title="No key yet">
          A key lets a program record costs or read spend, within the limits that you set.
          {can_create ? null : " Members of this workspace can create one."}
        </EmptyState>
      ) : (
        <div className="grid gap-6">
          <p id={keysSentenceId} tabIndex={-1} className="max-w-[70ch] outline-none">
            {summarizeKeys(keys, Date.now())}
          </p>
          {active.length > 0 ? (
            <KeyTable keys={active} label="Keys in use" views={views} canAsk={can_create} {...context} />
          ) : null}
          {past.length > 0 ? (
            <details className="group">
              <summary className="flex w-fit items-center gap-1.5 rounded-sm text-muted-foreground text-sm hover:text-foreground">
                <ChevronRight
                  aria-hidden="true"
                  className="size-4 transition-transform duration-100 group-open:rotate-90"
                />
                {past.length === 1 ? "One key that is" : `${past.length} keys that are`} revoked or expired
              </summary>
              <div className="pt-3">
                <KeyTable
                  keys={past}
                  label="Revoked and expired keys"
                  views={views}
                  canAsk={false}
                  {...context}
                />
              </div>
            </details>
          ) : null}
        </div>
      )}
    </>
  );
}
