// Binary search in sorted values.

/**
 * Returns the first index in `from..to` whose value is at least `value`, or `to`.
 * @param {ArrayLike<number>} values sorted
 * @param {number} value
 */
export function lowerBound(values, value, from = 0, to = values.length) {
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (values[middle] < value) from = middle + 1;
        else to = middle;
    }
    return from;
}

/**
 * Returns the first index in `from..to` whose value is greater than `value`, or `to`.
 * @param {ArrayLike<number>} values sorted
 * @param {number} value
 */
export function upperBound(values, value, from = 0, to = values.length) {
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (values[middle] <= value) from = middle + 1;
        else to = middle;
    }
    return from;
}
