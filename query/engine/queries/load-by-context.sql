-- The load of each task: mean over all traces, and maximum of one trace
SELECT subject, count(*) AS traces, round(avg(value) * 100, 2) AS mean_percent,
       round(max(value) * 100, 2) AS max_percent
FROM figures
WHERE measure = 'load' AND statistic = 'mean'
GROUP BY subject
ORDER BY mean_percent DESC, subject;
