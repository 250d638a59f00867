-- The ten longest waits, with the object and the context that held it
SELECT path, context_name, object_name, owner_name, ticks, duration_ticks, duration_ns,
       inverted_ticks
FROM waits
ORDER BY duration_ns DESC NULLS LAST, duration_ticks DESC, path, ticks
LIMIT 10;
