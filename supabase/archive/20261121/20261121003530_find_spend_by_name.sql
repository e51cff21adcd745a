-- What a feature, a model or a key came to needs the combinations it is part of, and read a month of the rollup for them:
-- with 570,000 rows, 0.3 to 0.5 seconds a page of metrics, and 0.04 to 0.2 with these. They grow with new combinations
-- alone, as adding to a sum changes none of their columns: 10 messages whose combinations are mostly new write 8.5 kB of
-- WAL instead of 7.5, those whose are not write what they wrote. Providers and sources are few, and a tenth of the
-- rollup is no less to read through an index.
create index daily_spend_feature_idx on public.daily_spend (workspace_id, feature, day);
create index daily_spend_model_idx on public.daily_spend (workspace_id, model, day);
create index daily_spend_api_key_idx on public.daily_spend (workspace_id, api_key_id, day);
