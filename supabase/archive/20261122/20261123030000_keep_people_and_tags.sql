-- What a message says of who caused the cost, and what its emitter said of it.
alter table public.messages
  add column end_user text,
  add column session text,
  add column tags text[],
  add column emitter text,
  add column given_cost_usd numeric,
  add column list_price_usd numeric;
comment on column public.messages.end_user is 'The person that usage was for, as the client names them: a message''s `user`. Not an account of Outlay.';
comment on column public.messages.tags is 'Each `name:value`, in the order of their bytes.';
comment on column public.messages.emitter is 'The program that told of the call, by its name in the table of emitters.';
comment on column public.messages.given_cost_usd is 'What the emitter says that the whole call cost; with the first posting.';
comment on column public.messages.list_price_usd is 'What included usage would have cost; null where no price is known.';

-- `included`: a subscription covers it. It costs nothing and has its list price beside it.
-- Not checked on existing rows here, which would block writers: the rule only became wider, and the next migration checks them.
alter table public.messages drop constraint messages_cost_status_check;
alter table public.messages
  add constraint messages_cost_status_check
    check (cost_status = any (array['client', 'priced', 'converted', 'unpriced', 'included'])) not valid,
  add constraint messages_included_check
    check (case when cost_status = 'included' then amount_usd = 0 else list_price_usd is null end) not valid,
  add constraint messages_tags_check check (cardinality(tags) between 1 and 10) not valid;
