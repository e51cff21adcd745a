import { Time } from "@/components/figures/time";
import { Badge } from "@/components/ui/badge";
import type { AlertRuleSetting } from "@/lib/contract/alerts/alert-rules";
import { RuleControls } from "./rule-controls";
import { describeRule, ruleNames, stateLabels } from "./rule-view";
import { SnoozeButton } from "./snooze-button";

type Context = { workspace: string; canEdit: boolean };

/** The most subjects of a rule that are shown. The API lists more. */
const shownSubjects = 5;

/** The rules of a workspace: when each fires, its present state, and the subjects that are not OK. */
export function RuleList({ rules, ...context }: Context & { rules: AlertRuleSetting[] }) {
  return (
    <ul aria-label="Rules" className="grid rounded-lg border">
      {rules.map((rule) => (
        <li key={rule.rule} className="grid gap-2 border-t p-3.5 first:border-t-0">
          <Rule rule={rule} {...context} />
        </li>
      ))}
    </ul>
  );
}

function Rule({ rule, workspace, canEdit }: Context & { rule: AlertRuleSetting }) {
  const { label, variant } = stateLabels[rule.state];
  const { subjects, snooze } = rule;
  return (
    <>
      <div className="flex items-start justify-between gap-2">
        <div className="grid min-w-0 gap-1">
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <span className="font-medium">{ruleNames[rule.rule]}</span>
            <Badge variant={variant}>{label}</Badge>
          </p>
          <p className="text-[13px] text-muted-foreground">{describeRule(rule)}</p>
          {snooze ? (
            <p className="text-[13px] text-muted-foreground">
              Snoozed until <Time at={snooze.until} />
            </p>
          ) : null}
        </div>
        {canEdit ? <RuleControls rule={rule} workspace={workspace} /> : null}
      </div>
      {subjects.length > 0 ? (
        <ul aria-label={`Not OK: ${ruleNames[rule.rule]}`} className="grid gap-1.5 border-l pl-3 text-[13px]">
          {subjects.slice(0, shownSubjects).map((subject) => (
            <li key={subject.id} className="flex items-start justify-between gap-2">
              <span className="[overflow-wrap:anywhere]">
                {subject.title}{" "}
                <span className="text-muted-foreground">
                  since <Time at={subject.since} />
                  {subject.snooze ? (
                    <>
                      , snoozed until <Time at={subject.snooze.until} />
                    </>
                  ) : null}
                </span>
              </span>
              {canEdit ? (
                <SnoozeButton
                  workspace={workspace}
                  rule={rule.rule}
                  subject={subject}
                  snooze={subject.snooze ?? undefined}
                />
              ) : null}
            </li>
          ))}
          {subjects.length > shownSubjects ? (
            <li className="text-muted-foreground">and {subjects.length - shownSubjects} more</li>
          ) : null}
        </ul>
      ) : null}
    </>
  );
}
