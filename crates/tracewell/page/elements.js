// Creates elements of the document.

/** @typedef {(string | Node)[]} Content */

/**
 * @param {string} name
 * @param {Content} content
 * @param {string} [kind] class
 */
export function element(name, content, kind) {
    const node = document.createElement(name);
    if (kind) node.className = kind;
    node.append(...content);
    return node;
}

/** Returns a text in which a line may end after each `_`. @param {string} text @returns {Content} */
export function breakable(text) {
    return text.split(/(?<=_)(?=.)/).flatMap((part, i) => (i > 0 ? [document.createElement("wbr"), part] : [part]));
}
