// The one place where the page says what happened. It is a live region, so what appears here is read out too.

import { element, icon, setProse } from './element.js';

const secondsShown = 7;
const mostShown = 4;

const region = document.getElementById('status');

/**
 * Says something that goes by itself.
 *
 * `spoken` is for what already stands elsewhere on the page: it is read out only.
 */
export function announce(text, { tone = 'plain', spoken = false } = {}) {
    // One is enough: what went well a moment ago matters less than what went well now.
    if (tone === 'plain') for (const shown of region.querySelectorAll('[data-tone=plain]')) shown.remove();
    const message = show(text, tone);
    message.classList.toggle('spoken', spoken);
    setTimeout(() => message.remove(), secondsShown * 1000);
}

/** Says that something failed, and stays until a person has put it away; the answer puts it away too. */
export function complain(text) {
    for (const shown of region.children) {
        if (shown.dataset.tone === 'problem' && shown.firstChild.textContent === text) shown.remove();
    }
    const message = show(text, 'problem');
    return () => message.remove();
}

function show(text, tone) {
    const said = element('p');
    setProse(said, text);
    const message = element(
        'div',
        { class: 'message', dataset: { tone } },
        said,
        element(
            'button',
            { type: 'button', class: 'quiet', 'aria-label': 'Dismiss', onclick: () => message.remove() },
            icon('cancel'),
        ),
    );
    region.append(message);
    while (region.childElementCount > mostShown) region.firstElementChild.remove();
    return message;
}
