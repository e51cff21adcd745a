-- Nine names of 128 characters can be longer than 4 KiB: a character has up to 4 bytes, and JSON escapes some with 6.
alter table public.source_refusals drop constraint source_refusals_example_check;
alter table public.source_refusals
  add constraint source_refusals_example_check check (octet_length(example::text) <= 16384);
