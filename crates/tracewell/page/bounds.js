// Binary search in sorted values, and a limit for searches whose result is near their start.

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

/**
 * Returns an upper limit for a binary search that starts at `from`. All values at and after the limit are greater than `value`. The limit
 * is at most about twice as far from `from` as the result of the search, so the search takes only a few steps if its result is near.
 * @param {ArrayLike<number>} values sorted
 * @param {number} value
 * @param {number} from
 */
export function boundBy(values, value, from) {
    let step = 1;
    while (from + step <= values.length && values[from + step - 1] <= value) step *= 2;
    return Math.min(from + step, values.length);
}
