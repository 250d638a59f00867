-- The ten longest waits for a mutex, and the context that held it
--
-- Waits for queues, semaphores and event flags are in the same table. They are often waits for work.
SELECT path, context_name, object_name, owner_name, ticks, duration_ticks, duration_ns,
       inverted_ticks
FROM waits
WHERE is_mutex
ORDER BY duration_ns DESC NULLS LAST, duration_ticks DESC, path, ticks
LIMIT 10;
