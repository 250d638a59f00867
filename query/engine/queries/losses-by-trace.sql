-- Traces with missing events or damage
SELECT path, format, events, lost, gaps, damages
FROM traces
WHERE gaps > 0 OR damages > 0
ORDER BY lost DESC NULLS FIRST, path;
