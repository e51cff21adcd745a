-- Before the next migration makes one queue of them, processes of the version before take nothing more from these three. They
-- answer 503, or log that a job failed, and finish what they have taken.
drop function private.claim_alert_deliveries(integer, integer, integer, integer);
drop function private.begin_channel_test(uuid, uuid, integer);
drop function private.claim_channel_notices(integer);
drop function private.claim_weekly_reports(integer, integer);
drop function private.claim_notices(integer);
