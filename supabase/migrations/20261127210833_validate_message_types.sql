-- Validates the types of messages that the migration before allowed, without a lock that holds recording up.
alter table public.messages validate constraint messages_type_check;
