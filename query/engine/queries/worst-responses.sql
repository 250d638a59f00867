-- The ten longest responses of jobs, and where their time went
--
-- A response lasts from the release of a job to its completion. Its time is the sum of execution,
-- blocking, interference, interrupts, and time for which the trace does not show who ran.
SELECT path, context_name, number AS job, ticks AS release, duration_ticks AS response,
       duration_ns AS response_ns, execution_ticks AS execution, blocking_ticks AS blocking,
       interference_ticks AS interference, missed
FROM jobs
ORDER BY duration_ns DESC NULLS LAST, duration_ticks DESC, path, release
LIMIT 10;
