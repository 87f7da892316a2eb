// Elements built and changed without ever reading data as markup: titles come from strangers.

/** Makes an element; `text`, `dataset` and `on…` properties are treated as such, everything else is an attribute. */
export function element(tag, properties = {}, ...children) {
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

/** One of the symbols of index.html. It says nothing to a screen reader: the button's name does. */
export function icon(name) {
    const svg = document.createElementNS(svgNamespace, 'svg');
    svg.setAttribute('class', 'icon');
    svg.setAttribute('aria-hidden', 'true');
    const use = document.createElementNS(svgNamespace, 'use');
    use.setAttribute('href', `#icon-${name}`);
    svg.append(use);
    return svg;
}

// The setters write only what differs: updates come five times a second, and a write that changes nothing still
// drops a text selection and may be read out again.

export function setText(node, text) {
    if (node.textContent !== text) node.textContent = text;
}

/** Sets the text and hides the element when there is none. */
export function setTextOrHide(node, text) {
    setText(node, text ?? '');
    setHidden(node, !text);
}

/** Sets a text in which each address stands apart, so that one click marks it and no full stop belongs to it. */
export function setProse(node, text) {
    if (node.textContent !== text) node.replaceChildren(...proseOf(text));
}

/** Sets the text as `setProse` does and hides the element when there is none. */
export function setProseOrHide(node, text) {
    setProse(node, text ?? '');
    setHidden(node, !text);
}

function proseOf(text) {
    const pieces = [];
    let end = 0;
    for (const { 0: address, index } of text.matchAll(/https?:\/\/[^\s“”<>]*[^\s“”<>.,;:!?]/g)) {
        const style = index + address.length === text.length ? 'address last' : 'address';
        pieces.push(text.slice(end, index), element('code', { class: style, text: address }));
        end = index + address.length;
    }
    return [...pieces, text.slice(end)];
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

/** Shows how far something is (0 to 100); `null` where it runs but cannot tell. */
export function setProgress(progress, percent) {
    if (percent === null) setAttribute(progress, 'value', null);
    else if (progress.getAttribute('value') !== String(percent)) progress.setAttribute('value', percent);
}
