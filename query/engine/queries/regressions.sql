-- Figures that grew between two values of a label: --set label=, old=, new=
--
-- Compares means over the traces of each value: of times, shares and levels. Times are in
-- nanoseconds if the clock's rate is known. `tracewell diff` decides whether a difference is larger
-- than noise.
WITH one AS (
    SELECT measure, subject, statistic, $label AS label, coalesce(value_ns, value) AS value,
           CASE WHEN value_ns IS NULL THEN unit ELSE 'ns' END AS unit
    FROM figures
    WHERE $label IN ($old, $new) AND statistic <> 'count'
), both AS (
    SELECT measure, subject, statistic, unit,
           avg(value) FILTER (WHERE label = $old) AS old,
           avg(value) FILTER (WHERE label = $new) AS new
    FROM one
    GROUP BY measure, subject, statistic, unit
)
SELECT measure, subject, statistic, round(old, 3) AS old, round(new, 3) AS new, unit,
       round(new / old, 2) AS ratio
FROM both
WHERE old > 0 AND new > old
ORDER BY new / old DESC, measure, subject, statistic
LIMIT 20;
