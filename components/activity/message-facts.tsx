"use client";

import type { ReactNode } from "react";
import { exactText } from "@/components/figures/amount";
import { formatCount, formatDigits } from "@/components/figures/format-count";
import { formatInZone, formatMonthAndYear } from "@/components/figures/format-date";
import { Money } from "@/components/figures/money";
import { Time } from "@/components/figures/time";
import { type ActivityFilter, activityHref } from "@/components/filters/href";
import { Badge } from "@/components/ui/badge";
import { CopyButton } from "@/components/ui/copy-button";
import { Link } from "@/components/ui/link";
import { SheetHeader, SheetTitle } from "@/components/ui/sheet";
import { Table, TableBody, TableCell, TableHead, TableHeader, TableRow } from "@/components/ui/table";
import type { MessageDetail } from "@/lib/contract/spend/message-detail";
import { CostOrigin } from "./cost-origin";
import { sourceNames, typeNames } from "./filters";
import { UndoActions, UndoneNote } from "./undo-cost";

type Message = MessageDetail;

/** All details of one message: its cost and how it was calculated, who recorded it, and its ledger entries. */
export function MessageFacts({ workspace, message }: { workspace: string; message: Message }) {
  const { entries, lines } = message;
  return (
    <>
      <SheetHeader>
        <SheetTitle className="break-words text-lg">{titleOf(message)}</SheetTitle>
        <p className="flex flex-wrap gap-1.5">
          <Badge>{typeNames[message.message_type]}</Badge>
          {message.voids === null ? null : <Badge variant="outline">Void</Badge>}
          {message.voided_by === null ? null : <Badge variant="outline">Voided</Badge>}
          {message.corrects === null ? null : <Badge variant="outline">Correction</Badge>}
          {entries.some(({ adjusts }) => adjusts !== null) ? (
            <Badge variant="outline">Adjustment</Badge>
          ) : null}
          {message.environment === "test" ? <Badge variant="outline">Test</Badge> : null}
          {message.cost_status === "unpriced" ? <Badge variant="warning">No price yet</Badge> : null}
          {message.cost_status === "included" ? <Badge>Covered by a subscription</Badge> : null}
        </p>
      </SheetHeader>
      <UndoneNote message={message} />
      <section aria-label="Cost" className="grid gap-2">
        <p className="font-semibold text-2xl tracking-tight">
          <Money usd={message.amount_usd} figure="message_usd" />
        </p>
        {lines.length === 0 ? <CostOrigin priced={message} details={message.details} /> : null}
        {message.cost_status === "unpriced" || message.cost_status === "priced" ? (
          <Link
            href={`/${workspace}/settings/prices`}
            className="justify-self-start text-primary text-sm underline-offset-4 hover:underline"
          >
            {message.cost_status === "priced" ? "Prices" : "Set a price"}
          </Link>
        ) : null}
      </section>
      {message.may_void ? <UndoActions workspace={workspace} message={message} /> : null}
      <Facts workspace={workspace} message={message} />
      {lines.length > 0 ? <Lines message={message} /> : null}
      {entries.length > 1 ? <Entries type={message.message_type} entries={entries} /> : null}
      <Watchers workspace={workspace} message={message} />
      <Pairs title="Details" pairs={message.details} />
      <Pairs title="Metadata" pairs={message.metadata} />
      <section aria-label="Identity" className="flex items-center gap-2 border-t pt-4 text-sm">
        <span className="text-muted-foreground">Id</span>
        <code className="min-w-0 truncate font-mono text-[13px]">{message.id}</code>
        <CopyButton text={message.id} label="Copy the message's id" />
      </section>
    </>
  );
}

function titleOf({ label, model, provider, message_type: type, batch_id: batch }: Message): string {
  if (type === "batch") return label ?? `Batch ${batch}`;
  return label ?? model ?? provider ?? typeNames[type] ?? type;
}

function Facts({ workspace, message }: { workspace: string; message: Message }) {
  const [first] = message.entries;
  const link = (text: string, filter: ActivityFilter) => (
    <Link
      href={activityHref(workspace, { period: "all", environment: message.environment, ...filter })}
      className="underline decoration-input underline-offset-4 hover:decoration-current"
    >
      {text}
    </Link>
  );
  const { provider, model, feature, key, user, quantity, batch_id: batch } = message;
  const { end_user: person, session, session_total: total, emitter, tags: tagged } = message;
  const tags = Object.entries(tagged).map(([name, value]) => `${name}:${value}`);
  const isPaidTo = message.message_type === "expense" || message.message_type === "subscription";
  const facts: [string, ReactNode][] = [
    ["Project", first ? link(first.project_name, { project: first.project_slug }) : null],
    [isPaidTo ? "Vendor" : "Provider", provider && link(provider, { provider })],
    ["Model", model && link(model, { model })],
    ["Feature", feature && link(feature, { feature })],
    ["Person", person && link(person, { user: person })],
    [
      "Session",
      session && (
        <>
          {link(session, { session })}
          {total ? (
            <span className="block text-muted-foreground text-xs">
              <Money usd={total.amount_usd} figure="session_total_usd" /> in{" "}
              {formatCount(total.call_count, "call")}
            </span>
          ) : null}
        </>
      ),
    ],
    [
      "Tags",
      tags.length > 0 && (
        <span className="flex flex-wrap gap-x-3 gap-y-1">
          {tags.map((tag) => (
            <span key={tag}>{link(tag, { tag })}</span>
          ))}
        </span>
      ),
    ],
    ["List price", message.list_price_usd !== null && <Money usd={message.list_price_usd} />],
    ["Emitter", emitter && link(emitter, { emitter })],
    ["Its own cost", message.given_cost_usd !== null && <Money usd={message.given_cost_usd} />],
    [
      "Quantity",
      quantity !== null && `${formatDigits(exactText(quantity))} ${message.unit_type?.replaceAll("_", " ")}`,
    ],
    ["Category", message.category],
    [
      message.voids === null ? "Notes" : "Reason",
      message.notes && <span className="whitespace-pre-wrap">{message.notes}</span>,
    ],
    ["Batch", batch && <Copied text={batch} label="Copy the batch's id" />],
    [
      "Idempotency",
      message.idempotency_key && <Copied text={message.idempotency_key} label="Copy the idempotency key" />,
    ],
    ["Occurred", first && <Instant at={first.adjusts ?? first.occurred_at} />],
    [
      "Booked",
      first?.adjusts && (
        <>
          <Instant at={first.occurred_at} />: an adjustment of{" "}
          {link(formatMonthAndYear(first.adjusts), { adjusts: first.adjusts.slice(0, 7) })}, which was closed
        </>
      ),
    ],
    ["Recorded", <Instant key="recorded" at={message.created_at} />],
    ["Key", key && link(key.name, { key: key.id })],
    ["Recorded by", user?.name],
    ["Source", sourceNames[message.source]],
  ];
  return (
    <dl className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-x-3 gap-y-2 text-sm">
      {facts.map(([name, value]) =>
        value ? (
          <div key={name} className="contents">
            <dt className="text-muted-foreground">{name}</dt>
            <dd className="min-w-0 break-words">{value}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

/** An instant in full in the time zone of the workspace, and how long ago it was. */
function Instant({ at }: { at: string }) {
  return (
    <>
      {formatInZone(new Date(at), "instant")}{" "}
      <span className="text-muted-foreground">
        (<Time at={at} />)
      </span>
    </>
  );
}

function Copied({ text, label }: { text: string; label: string }) {
  return (
    <span className="flex items-center gap-1">
      <code className="min-w-0 truncate font-mono text-[13px]">{text}</code>
      <CopyButton text={text} label={label} className="-my-1" />
    </span>
  );
}

function Lines({ message }: { message: Message }) {
  const { lines } = message;
  return (
    <Section title={formatCount(lines.length, "line")}>
      <ul className="divide-y border-y text-sm">
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no id and never move.
          <li key={index} className="grid gap-1 py-2.5">
            <div className="flex justify-between gap-4">
              <span className="min-w-0 break-words">
                {[line.model, line.feature, message.end_user === null && line.end_user]
                  .filter(Boolean)
                  .join(" · ") || line.unit_type}
                <span className="block text-muted-foreground text-xs">
                  {formatDigits(exactText(line.quantity))} {line.unit_type.replaceAll("_", " ")}
                </span>
              </span>
              <Money usd={line.amount_usd} className="shrink-0" />
            </div>
            <CostOrigin priced={line} compact />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** The ledger entries of a message that has several: an allocation's projects, or a yearly charge's months. */
function Entries({ type, entries }: { type: Message["message_type"]; entries: Message["entries"] }) {
  return (
    <Section title={type === "allocation" ? "Moved between projects" : "Spread over"}>
      <Table>
        <TableHeader>
          <TableRow>
            <TableHead className="pl-0">{type === "allocation" ? "Project" : "Month"}</TableHead>
            <TableHead className="pr-0 text-right">Amount</TableHead>
          </TableRow>
        </TableHeader>
        <TableBody>
          {entries.map(({ part, project_name, occurred_at, adjusts, amount_usd }) => (
            <TableRow key={part}>
              <TableCell className="pl-0">
                {type === "allocation" ? project_name : (adjusts ?? occurred_at).slice(0, 7)}
                {adjusts !== null && type !== "allocation" ? (
                  <span className="block text-muted-foreground text-xs">
                    closed, booked in {occurred_at.slice(0, 7)}
                  </span>
                ) : null}
              </TableCell>
              <TableCell className="pr-0 text-right">
                <Money usd={amount_usd} />
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </Section>
  );
}

/** By rule, the text of an alert in a sentence about its subject. */
const ruleTexts: Record<string, string> = {
  budget_threshold: "reached",
  budget_forecast: "was forecast to reach",
  budget_pace: "was ahead of its pace, at",
  key_limit: "reached",
};

/** The budgets that count a message, and the alerts of these budgets and of the message's key in that time. */
function Watchers({ workspace, message: { budgets, alerts } }: { workspace: string; message: Message }) {
  const text = "underline decoration-input underline-offset-4 hover:decoration-current";
  if (budgets.length === 0 && alerts.length === 0) return null;
  return (
    <Section title="Budgets and alerts">
      <ul className="grid gap-1.5 text-sm">
        {budgets.map(({ id, name }) => (
          <li key={id} className="break-words">
            Counts in{" "}
            <Link href={`/${workspace}/budgets#budget-${id}`} className={text}>
              {name}
            </Link>
          </li>
        ))}
        {alerts.map(({ id, rule, subject, percent, fired_at: at }) => (
          <li key={id} className="break-words">
            <Link href={`/${workspace}/alerts`} className={text}>
              {subject} {ruleTexts[rule] ?? rule.replaceAll("_", " ")}
              {percent === null ? "" : ` ${percent}%`}
            </Link>{" "}
            <span className="text-muted-foreground">
              <Time at={at} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Pairs({ title, pairs }: { title: string; pairs: Record<string, unknown> | null }) {
  const given = Object.entries(pairs ?? {}).filter(([, value]) => value !== null && value !== undefined);
  if (given.length === 0) return null;
  return (
    <Section title={title}>
      <dl className="grid gap-1.5 font-mono text-[13px]">
        {given.map(([name, value]) => (
          <div key={name} className="flex flex-wrap gap-x-3">
            <dt className="text-muted-foreground">{name}</dt>
            <dd className="min-w-0 break-all">{formatValue(value)}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

/** A value as text. A number with more digits than a double holds is an object with its text. */
function formatValue(value: unknown): string {
  if (typeof value === "object" && value !== null && "text" in value) return String(value.text);
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="grid gap-2">
      <h3 className="font-medium text-sm">{title}</h3>
      {children}
    </section>
  );
}
