-- A bill can be an export of CUR 2.0.

alter table public.bills
  drop constraint bills_format_check,
  add constraint bills_format_check check (format in ('csv', 'focus', 'cur', 'pull'));
