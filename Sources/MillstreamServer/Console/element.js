// Functions that create and change elements. They never parse text as markup, because titles are untrusted input.

/** Creates an element. `text`, `dataset` and `on…` are properties and listeners; all others become attributes. */
export function createElement(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
        if (value === undefined || value === null || value === false) continue;
        if (name === 'text') node.textContent = value;
        else if (name === 'dataset') Object.assign(node.dataset, value);
        else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
        else node.setAttribute(name, value === true ? '' : value);
    }
    node.append(...children);
    return node;
}

const svgNamespace = 'http://www.w3.org/2000/svg';

/** Creates one of the icons of index.html. It is hidden from screen readers, which read the name of the button. */
export function createIcon(name) {
    const svg = document.createElementNS(svgNamespace, 'svg');
    svg.setAttribute('class', 'icon');
    svg.setAttribute('aria-hidden', 'true');
    const use = document.createElementNS(svgNamespace, 'use');
    use.setAttribute('href', `#icon-${name}`);
    svg.append(use);
    return svg;
}

// The setters only write values that differ: updates arrive five times a second, and writing the same value again
// clears a text selection and can make a screen reader repeat the text.

export function setText(node, text) {
    if (node.textContent !== text) node.textContent = text;
}

/** Sets the text of an element, and hides the element if the text is empty. */
export function setTextOrHide(node, text) {
    setText(node, text ?? '');
    setHidden(node, !text);
}

/** Sets the text of an element and wraps each URL in it, so that a click selects exactly the URL. */
export function setTextWithURLs(node, text) {
    if (node.textContent !== text) node.replaceChildren(...wrapURLs(text));
}

/** Sets the text as `setTextWithURLs` does, and hides the element if the text is empty. */
export function setTextWithURLsOrHide(node, text) {
    setTextWithURLs(node, text ?? '');
    setHidden(node, !text);
}

function wrapURLs(text) {
    const parts = [];
    let end = 0;
    for (const { 0: url, index } of text.matchAll(/https?:\/\/[^\s“”<>]*[^\s“”<>.,;:!?]/g)) {
        const className = index + url.length === text.length ? 'url last' : 'url';
        parts.push(text.slice(end, index), createElement('code', { class: className, text: url }));
        end = index + url.length;
    }
    return [...parts, text.slice(end)];
}

export function setHidden(node, hidden) {
    if (node.hidden !== hidden) node.hidden = hidden;
}

export function setAttribute(node, name, value) {
    if (value === undefined || value === null) {
        if (node.hasAttribute(name)) node.removeAttribute(name);
    } else if (node.getAttribute(name) !== String(value)) {
        node.setAttribute(name, value);
    }
}

/** Sets the value of a progress bar, 0 to 100; `null` makes it indeterminate. */
export function setProgress(progress, percent) {
    if (percent === null) setAttribute(progress, 'value', null);
    else if (progress.getAttribute('value') !== String(percent)) progress.setAttribute('value', percent);
}
