alter table public.recommendations drop constraint recommendations_kind_check;
alter table public.recommendations add constraint recommendations_kind_check check (
  kind in ('batch_tier', 'smaller_model', 'standard_tier', 'prompt_caching', 'unused_seats', 'disputed_price')
);
