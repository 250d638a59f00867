-- Figures that grew from one value of a label to the next: --set label=
--
-- Sorts the values of the label as text, and compares the mean of each figure over the traces of a
-- value with that of the value before. Shows only differences above four standard errors. `above`
-- is the number of traces whose figure is above the largest one of the value before.
WITH one AS (
    SELECT measure, subject, statistic, $label AS label, coalesce(value_ns, value) AS value,
           CASE WHEN value_ns IS NULL THEN unit ELSE 'ns' END AS unit
    FROM figures
    WHERE $label IS NOT NULL AND statistic <> 'count'
), by_label AS (
    SELECT measure, subject, statistic, unit, label, count(*) AS traces, avg(value) AS mean,
           max(value) AS most, coalesce(var_samp(value), 0) / count(*) AS error
    FROM one
    GROUP BY measure, subject, statistic, unit, label
), step AS (
    SELECT *, lag(label) OVER next AS before, lag(mean) OVER next AS old,
           lag(most) OVER next AS old_most, lag(error) OVER next AS old_error
    FROM by_label
    WINDOW next AS (PARTITION BY measure, subject, statistic, unit ORDER BY label)
)
SELECT step.before, step.label AS after, step.measure, step.subject, step.statistic,
       round(old, 3) AS old, round(mean, 3) AS new, step.unit, round(mean / old, 2) AS ratio,
       traces, count(*) FILTER (WHERE value > old_most) AS above
FROM step
JOIN one ON one.label = step.label AND one.measure = step.measure AND one.subject = step.subject
        AND one.statistic = step.statistic AND one.unit = step.unit
WHERE old > 0 AND mean - old > 4 * sqrt(error + old_error)
GROUP BY step.before, step.label, step.measure, step.subject, step.statistic, old, mean, step.unit,
         traces
ORDER BY mean / old DESC, step.measure, step.subject, step.statistic
LIMIT 20;
