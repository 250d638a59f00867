-- The contexts and events that occur most often
SELECT context_name, name, count(*) AS events
FROM events
GROUP BY context_name, name
ORDER BY events DESC, context_name, name
LIMIT 20;
