-- Until when the authorization server does not advertise client documents, because the outside network could not be
-- reached. One row, shared by all processes: one process reads a document, and another may answer the metadata request
-- that follows.
create table private.oauth_document_outage (
  only_row boolean primary key default true check (only_row),
  ends_at timestamptz not null
);
alter table private.oauth_document_outage enable row level security;

-- seconds: how long documents are not advertised from now on; 0 advertises them again
create function private.note_document_outage(seconds integer)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into private.oauth_document_outage (ends_at)
  select clock_timestamp() + seconds * interval '1 second' where seconds > 0
    or exists (select from private.oauth_document_outage where ends_at > clock_timestamp())
  on conflict (only_row) do update set ends_at = excluded.ends_at
$$;

create function private.is_document_outage()
returns boolean
language sql stable security definer set search_path = ''
as $$
  select exists (select from private.oauth_document_outage where ends_at > clock_timestamp())
$$;

revoke all on function private.note_document_outage(integer), private.is_document_outage() from public;
grant execute on function private.note_document_outage(integer), private.is_document_outage()
  to outlay_service, service_role;
