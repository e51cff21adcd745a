-- A rule that is set to what it is already leaves no entry in the audit log.
drop trigger alert_rules_are_audited on public.alert_rules;
create trigger changed_alert_rules_are_audited after update on public.alert_rules for each row
  when (old.is_on is distinct from new.is_on or old.parameter is distinct from new.parameter)
  execute function private.audit_alert_rule();
create trigger first_changes_of_alert_rules_are_audited after insert on public.alert_rules for each row
  execute function private.audit_alert_rule();
